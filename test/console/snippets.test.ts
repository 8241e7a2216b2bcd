import test from 'ava'
import { PRESETS } from '../../console/model/presets.ts'
import { type ProgramName, PROGRAMS, snippetsOf } from '../../console/model/snippets.ts'
import { blocks } from '../clients/support/documents.ts'

const NAMES = Object.keys(PROGRAMS) as ProgramName[]

const FACTS = {
  url: 'https://api.test/base',
  secret: 'the-secret',
  email: 'a@people.test',
  place: { name: 'host.zone.test', domain: 'zone.test' },
  nameserver: 'ns.servers.test',
}

for (const name of NAMES) {
  test(`the texts for ${name} are those of docs/clients.md, where they are tested`, (t) => {
    const { texts } = PROGRAMS[name]
    t.deepEqual(texts, blocks('docs/clients.md', name).slice(0, texts.length))
  })

  test(`the texts for ${name} name the service, the secret and the reader’s names`, (t) => {
    const all = snippetsOf(name, FACTS).join('')
    t.true(all.includes('the-secret'))
    t.notRegex(all.replaceAll('proxy.example.net', ''), /example\.(net|org)/)
    t.false(all.includes('$TOKEN'))
  })
}

test('every program belongs to a preset, and takes the names in their places', (t) => {
  t.deepEqual([...new Set(PRESETS.flatMap(({ programs }) => programs))].sort(), [...NAMES].sort())
  t.regex(
    snippetsOf('ddclient 4', FACTS)[0]!,
    /^server=api\.test$[^]*^login=zone\.test\npassword=the-secret\nhost\.zone\.test$/m,
  )
  t.regex(snippetsOf('lego 5', FACTS)[0]!, /--email a@people\.test[^]*ns\.servers\.test:53[^]*'\*\.host\.zone\.test'/)
  t.regex(snippetsOf('certbot', FACTS)[1]!, /^dns_desec_endpoint = https:\/\/api\.test\/base\/api\/v1\/$/m)
})
