import test from 'ava'
import { domainOf, succeeded } from '../support/clients/api.ts'
import { depth } from '../support/depth.ts'
import { discrepanciesOf } from '../support/dns/discrepancies.ts'
import { lookUp } from '../support/dns/dns.ts'
import { useAccount, useService } from '../support/harness.ts'
import { Random } from '../support/random.ts'
import { follow, FORGOTTEN, SETTINGS, useStage, WAITS, WARM } from '../support/rollovers/stage.ts'

// Back to the former keys, from each phase that allows it: resolvers believe all answers on the way there and back.

const service = useService(SETTINGS, undefined, WAITS)

interface Case {
  algorithm: string
  phase: string
  /** Whether the parent follows CDS. Otherwise it has not noticed the new key when the owner goes back. */
  isQuick: boolean
  /** What the way back takes. */
  back: string[]
}

const CASES: Case[] = [
  { algorithm: 'ecdsa256', phase: 'publish', isQuick: true, back: [] },
  { algorithm: 'ecdsa256', phase: 'await-ds', isQuick: false, back: ['await-ds', 'await-ds-ttl'] },
  { algorithm: 'ecdsa256', phase: 'await-ds-ttl', isQuick: true, back: ['await-ds', 'await-ds-ttl'] },
  { algorithm: 'ed25519', phase: 'sign', isQuick: true, back: [] },
  { algorithm: 'ed25519', phase: 'publish', isQuick: true, back: ['unpublish'] },
  { algorithm: 'ed25519', phase: 'await-ds', isQuick: false, back: ['await-ds', 'await-ds-ttl', 'unpublish'] },
  { algorithm: 'ed25519', phase: 'await-ds-ttl', isQuick: true, back: ['await-ds', 'await-ds-ttl', 'unpublish'] },
]

const nameOf = ({ algorithm, phase }: Case) => `${algorithm}-${phase}.example`
const TOO_LATE = 'too-late.example'

const stage = useStage(service, [...CASES.map(nameOf), TOO_LATE])
const account = useAccount(service)

for (const one of new Random().some(CASES, depth(4, CASES.length))) {
  const { algorithm, phase, isQuick, back } = one
  const name = nameOf(one)
  const path = `/domains/${name}/rollover/`

  test(`a rollover to ${algorithm} that is cancelled in ${phase} leaves the former key alone`, async (t) => {
    const { api } = account()
    await stage().addDomain(api, name)
    await stage().secure(api, name)
    const watch = stage().watch(name)
    await watch.last(WARM)
    const { keys } = await domainOf(api, name)
    const stopParent = isQuick ? stage().followCds(name) : undefined
    succeeded(await api.post(path, { algorithm }), 201)
    let isCancelled = false
    const there: string[] = []
    const seen = await follow(api, name, async (rollover) => {
      watch.phase = `${isCancelled ? 'back: ' : ''}${rollover.phase}`
      if (isCancelled) return
      there.push(rollover.phase)
      if (rollover.phase !== phase) return
      isCancelled = true
      watch.phase = 'cancelled'
      succeeded(await api.delete(path), back.length === 0 ? 204 : 200)
    })
    watch.phase = 'after'
    await watch.last(FORGOTTEN)
    t.deepEqual(await watch.stop(), [])
    await stopParent?.()
    t.deepEqual(await domainOf(api, name).then((domain) => domain.keys), keys)
    t.is(there.at(-1), phase)
    const way = [...new Set(there), ...back].filter((each, i, all) => each !== all[i - 1])
    t.deepEqual(seen, way)
    t.is((await lookUp(service().powerDns, name, 'DNSKEY')).length, 1)
    t.deepEqual([...stage().parent.dsOf(name)].sort(), [...keys[0]!.ds].sort())
    t.deepEqual(await discrepanciesOf(service(), name), [])
  })
}

test('it is too late in unpublish', async (t) => {
  const { api } = account()
  await stage().addDomain(api, TOO_LATE)
  await stage().secure(api, TOO_LATE)
  const stopParent = stage().followCds(TOO_LATE)
  const path = `/domains/${TOO_LATE}/rollover/`
  succeeded(await api.post(path, { algorithm: 'ed25519' }), 201)
  await follow(api, TOO_LATE, async ({ phase, can_cancel }, isNew) => {
    t.is(can_cancel, phase !== 'unpublish')
    // Later, the phase can end before the request arrives.
    if (phase === 'unpublish' && isNew) t.like(await api.delete(path), { status: 409 })
  })
  await stopParent()
  const { keys } = await domainOf(api, TOO_LATE)
  t.true(keys.length === 1 && keys[0]!.dnskey.startsWith('257 3 15 '))
})
