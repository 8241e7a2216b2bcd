import type { Command } from 'commander'
import { encryptAgain } from '../service/operation/stored-secrets.ts'
import type { AddCommand } from './command.ts'

export function addDatabase(program: Command, add: AddCommand): void {
  // Every command does this before its work.
  add(program, 'migrate', {}, () =>
    Promise.resolve({ lines: ['The schema is up to date.'], json: { migrated: true } }),
  ).description('bring the database schema up to date; the service also does this when it starts')
  add(program, 'encrypt-again', {}, async (system) => {
    const { factors, keys, transferKeys, tsigKeys, webhookSecrets } = await encryptAgain(system)
    return {
      lines: [
        `second factors: ${factors} secrets encrypted`,
        `DNSSEC keys: ${keys} encrypted`,
        `transfer keys: ${transferKeys} encrypted`,
        `TSIG keys of tokens: ${tsigKeys} encrypted`,
        `secrets of webhooks: ${webhookSecrets} encrypted`,
      ],
      json: { factors, keys, transfer_keys: transferKeys, tsig_keys: tsigKeys, webhook_secrets: webhookSecrets },
    }
  }).description('encrypt all stored secrets with the first of KEY_ENCRYPTION_KEYS, so that you can remove the others')
}
