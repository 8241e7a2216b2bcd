import test from 'ava'
import { PRESETS } from '../../console/tokens/presets.ts'
import {
  KEY_FILE,
  KEY_PROGRAMS,
  type ProgramName,
  programOf,
  PROGRAMS,
  snippetsOf,
} from '../../console/tokens/snippets.ts'
import { blocks } from '../clients/support/documents.ts'

const NAMES = Object.keys(PROGRAMS) as ProgramName[]
const KEY_NAMES = Object.keys(KEY_PROGRAMS) as ProgramName[]

const FACTS = {
  url: 'https://api.test/base',
  secret: 'the-secret',
  keyName: 'the-key',
  email: 'a@people.test',
  place: { name: 'host.zone.test', domain: 'zone.test' },
  nameserver: 'ns.servers.test',
}

for (const name of [...NAMES, ...KEY_NAMES]) {
  test(`the texts for ${name} are those of docs/clients.md, where they are tested`, (t) => {
    const { texts } = programOf(name)
    t.deepEqual(texts, blocks('docs/clients.md', name).slice(0, texts.length))
  })

  test(`the texts for ${name} name the service, the secret and the reader’s names`, (t) => {
    const all = snippetsOf(name, FACTS).join('')
    t.true(all.includes('the-secret') || all.includes('zoneplane.key'))
    t.notRegex(all.replaceAll('proxy.example.net', ''), /example\.(net|org)/)
    t.notRegex(all, /\$(TOKEN|KEY|SECRET)/)
  })
}

test('the key file is that of docs/clients.md', (t) => {
  t.deepEqual([KEY_FILE], blocks('docs/clients.md', 'All DNS UPDATE clients'))
})

test('every program belongs to a preset, and takes the names in their places', (t) => {
  t.deepEqual([...new Set(PRESETS.flatMap(({ programs }) => programs))].sort(), [...NAMES].sort())
  t.regex(
    snippetsOf('ddclient 4', FACTS)[0]!,
    /^server=api\.test$[^]*^login=zone\.test\npassword=the-secret\nhost\.zone\.test$/m,
  )
  t.regex(snippetsOf('lego 5', FACTS)[0]!, /--email a@people\.test[^]*ns\.servers\.test:53[^]*'\*\.host\.zone\.test'/)
  t.regex(snippetsOf('certbot', FACTS)[1]!, /^dns_desec_endpoint = https:\/\/api\.test\/base\/api\/v1\/$/m)
  t.regex(snippetsOf('nsupdate', FACTS)[0]!, /^zone zone\.test\nupdate delete host\.zone\.test A$/m)
  t.regex(snippetsOf('lego with DNS UPDATE', FACTS)[0]!, /ZONES=zone\.test [^]*--domains host\.zone\.test/)
})
