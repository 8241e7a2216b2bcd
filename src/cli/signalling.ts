import type { Command } from 'commander'
import * as accounts from '../service/accounts/accounts.ts'
import { setUpSignalling } from '../service/delegation/signalling-setup.ts'
import { type AddCommand, WRITES } from './command.ts'

export function addSignalling(program: Command, add: AddCommand): void {
  const group = program
    .command('signalling')
    .description('zones in which parents find the keys of new domains, so that these become secure by themselves')
  add(group, 'setup', WRITES, async (system, { account }: { account: string }) => {
    const { nameServers } = system.config
    const zones = await setUpSignalling(system, (await accounts.withEmail(system, account)).id)
    return {
      lines: [
        ...zones.map(({ name, isNew }) => `${name}: ${isNew ? 'made' : 'is there already'}`),
        'Delegate them with these records, in the zones that have the names of the nameservers:',
        ...zones.flatMap(({ name, ds }) => [
          ...nameServers.map((host) => `${name}. NS ${host}`),
          ...ds.map((content) => `${name}. DS ${content}`),
        ]),
      ],
      json: zones.map(({ name, isNew, ds }) => ({ name, new: isNew, ns: nameServers, ds })),
    }
  })
    .description('make the signalling zones of all nameservers, and print the records that delegate them')
    .requiredOption('--account <email>', 'the account that owns them')
}
