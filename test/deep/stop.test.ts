import test from 'ava'
import { rrset, sendHeld } from '../support/clients/api.ts'
import { discrepanciesInTheEnd } from '../support/dns/discrepancies.ts'
import { useServers } from '../support/harness.ts'
import { unrepaired } from '../support/state/marks.ts'

const servers = useServers()

test.serial('on SIGTERM while PowerDNS hangs, the write is answered 503, and the exit code is 0', async (t) => {
  const service = await servers().start()
  const name = 'hanging.example'
  await service.api.post('/domains/', { name })
  const write = () => service.api.post(`/domains/${name}/rrsets/`, rrset())
  const { answering, release } = await sendHeld(servers(), 'PATCH', write)
  release('hang')
  service.signal('SIGTERM')
  t.is((await answering).status, 503)
  t.is(await service.ended, 0)
  t.deepEqual(await unrepaired(servers()), [name])
  await servers().start()
  t.deepEqual(await discrepanciesInTheEnd(servers()), [])
})
