import test from 'ava'
import { transaction } from '../../src/store/database.ts'
import { type Holder, lock } from '../../src/store/tokens/rights.ts'
import { useTables } from './tables.ts'

const tables = useTables()

test('transactions that keep and change the rights of each other’s holders never wait in a circle', async (t) => {
  const { pool } = tables()
  const holders: Holder[] = ['account a', 'account b', 'token a', 'token b']
  const pairs = holders.flatMap((kept) => holders.map((changed): [Holder, Holder] => [kept, changed]))
  let rounds = 0
  await Promise.all(
    [...pairs, ...pairs.toReversed()].map(async ([kept, changed]) => {
      for (let i = 0; i < 20; i++) {
        await transaction(pool, (trx) => lock(trx, [kept], [changed]))
        rounds++
      }
    }),
  )
  t.is(rounds, 640)
})
