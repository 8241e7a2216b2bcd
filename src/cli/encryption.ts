import type { Command } from 'commander'
import { encryptAgain } from '../service/accounts/second-factor.ts'
import type { AddCommand } from './command.ts'

export function addEncryption(program: Command, add: AddCommand): void {
  add(
    program,
    'encrypt-again',
    'encrypt all stored secrets with the first of KEY_ENCRYPTION_KEYS, so that the others can be removed',
    async (system) => {
      const count = await encryptAgain(system)
      return { lines: [`second factors: ${count} secrets encrypted`], json: { factors: count } }
    },
  )
}
