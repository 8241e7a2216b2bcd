import type { Command } from 'commander'
import { encryptAgain } from '../service/operation/stored-secrets.ts'
import type { AddCommand } from './command.ts'

export function addEncryption(program: Command, add: AddCommand): void {
  add(
    program,
    'encrypt-again',
    'encrypt all stored secrets with the first of KEY_ENCRYPTION_KEYS, so that the others can be removed',
    async (system) => {
      const { factors, keys, transferKeys } = await encryptAgain(system)
      return {
        lines: [
          `second factors: ${factors} secrets encrypted`,
          `DNSSEC keys: ${keys} encrypted`,
          `transfer keys: ${transferKeys} encrypted`,
        ],
        json: { factors, keys, transfer_keys: transferKeys },
      }
    },
  )
}
