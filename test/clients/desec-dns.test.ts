import test from 'ava'
import { newFolder } from '../support/servers/folders.ts'
import { Domain, usePlace } from './support/clients.ts'
import { blocks } from './support/documents.ts'
import { shell, succeeded } from './support/programs.ts'
import { installPython } from './support/python.ts'

const place = usePlace()

test.serial('desec-dns lists domains, writes RRsets, moves a zone and manages tokens with policies', async (t) => {
  const { servers, authority, front } = place()
  const PATH = await installPython(t, ['desec-dns[zonefiles]'])
  const [list] = blocks('docs/clients.md', 'desec-dns and desec-cli', {
    'http://proxy.example.net:3128': front.proxyUrl,
    'ca.pem': authority.file,
  })
  const folder = newFolder()
  const env = { PATH, TOKEN: servers.owner.secret }
  const desec = async (action: string) => {
    const said = succeeded(t, await shell(list!.replace('list-domains', action), { folder, env }))
    t.log(`desec ${action}: ${said.trim()}`)
    return said
  }

  t.regex(await desec('new-domain desec.test'), /'name': 'desec\.test'/)
  t.is(await desec('list-domains'), 'desec.test\n')
  const domain = await Domain.find(place(), 'desec.test')

  await desec('add-record desec.test -t A -s www -r 192.0.2.1 --ttl 300')
  await desec('update-record desec.test -t A -s www -r 192.0.2.2')
  await desec('change-record desec.test -t A -s www --ttl 600')
  await desec(`update-record desec.test -t TXT -s www -r '"v=spf1 -all"'`)
  t.is(
    await desec('get-records desec.test -t A'),
    'www.desec.test. 600 IN A 192.0.2.2\nwww.desec.test. 600 IN A 192.0.2.1\n',
  )
  await domain.serves(t, 'www.desec.test', 'A', ['192.0.2.1', '192.0.2.2'])
  await domain.serves(t, 'www.desec.test', 'TXT', ['"v=spf1 -all"'])

  await desec('export-zone desec.test -f zone')
  await desec('delete-record desec.test -t A -s www')
  await domain.serves(t, 'www.desec.test', 'A', [])
  await desec('import-zone desec.test -f zone')
  await domain.serves(t, 'www.desec.test', 'A', ['192.0.2.1', '192.0.2.2'])
  await domain.isValid(t)

  await desec('create-token --name ci')
  const id = /'id': '([^']+)'[^}]*'name': 'ci'/.exec(await desec('list-tokens'))![1]!
  await desec(`add-token-policy ${id}`)
  await desec(`add-token-policy ${id} --domain desec.test -s _acme-challenge -t TXT --write`)
  t.is((await desec(`list-token-policies ${id}`)).match(/'perm_write': /g)?.length, 2)
  await desec(`delete-token ${id}`)
  await desec('delete-domain desec.test')
  t.is(await desec('list-domains'), '')
})
