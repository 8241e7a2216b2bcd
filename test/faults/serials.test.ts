import test from 'ava'
import fc from 'fast-check'
import { currentTime } from '../../src/time.ts'
import { useService } from '../support/harness.ts'
import { SEED } from '../support/random.ts'
import type { Call, Fate } from '../support/servers/proxy.ts'

// A serial that was ever sent for a zone is never sent with other contents, whatever became of it and whatever the clock
// says (crashes.md).

const service = useService()

const NAME = 'serials.example'

/** What happens to the next request that changes the zone. */
const fates = fc.constantFrom<Fate>('pass', 'pass', 'pass', 'swallow', { refuse: 422 }, { refuse: 500 }, { spoil: 422 })

interface Step {
  seconds: number
  fate: Fate
  action: 'write' | 'toggle'
}

/** The clock jumps by up to two days in either direction. */
const steps = fc.array(
  fc.record<Step>({
    seconds: fc.integer({ min: -172_800, max: 172_800 }),
    fate: fates,
    action: fc.constantFrom('write', 'write', 'write', 'toggle'),
  }),
  { minLength: 3, maxLength: 12 },
)

/** The serial that a request sets, and everything that the request sets. */
function sent({ method, path, body }: Call): { serial: number; contents: string } | undefined {
  const isOurs = path.includes(`${NAME}.`) || body.includes(`"name":"${NAME}."`)
  if (!isOurs || (method !== 'PATCH' && method !== 'POST')) return undefined
  const [, serial] = / hostmaster\.\S+ (\d+) /.exec(body) ?? []
  return serial === undefined ? undefined : { serial: Number(serial), contents: `${method} ${body}` }
}

test.serial('a serial is never sent with different contents', async (t) => {
  t.timeout(300_000)
  const { system, proxy, ...world } = service()
  const { api } = await world.account()
  let offset = 0
  let number = 0
  const contents = new Map<number, string>()
  system.now = () => new Date(Date.parse(currentTime()) + offset).toISOString().replace('Z', '000Z')

  const write = async () => {
    number++
    const rrset = { subname: 'www', type: 'A', ttl: 300, records: [`198.51.${number >> 8}.${number & 255}`] }
    await api.put(`/domains/${NAME}/rrsets/`, [rrset])
  }
  const toggle = async () => {
    const { status } = await api.post('/domains/', { name: NAME })
    if (status === 400) await api.delete(`/domains/${NAME}/`)
  }

  await fc.assert(
    fc.asyncProperty(steps, async (sequence) => {
      for (const { seconds, fate, action } of sequence) {
        offset += seconds * 1000
        let next: Fate = fate
        proxy.fail(({ method }) => {
          if (method === 'GET') return 'pass'
          const now = next
          next = 'pass'
          return now
        })
        await (action === 'write' ? write() : toggle())
      }
      proxy.heal()
      for (const call of proxy.calls.splice(0)) {
        const { serial, contents: sending } = sent(call) ?? {}
        if (serial === undefined) continue
        t.true(
          [undefined, sending].includes(contents.get(serial)),
          `${serial}: first ${contents.get(serial) ?? ''}, then ${sending!}`,
        )
        contents.set(serial, sending!)
      }
    }),
    { seed: SEED, numRuns: 15 },
  )
})
