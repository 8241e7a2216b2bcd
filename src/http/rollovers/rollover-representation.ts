import { KEY_ALGORITHMS, PHASES, type ShownRollover } from '../../service/rollovers/rollovers.ts'
import { boolean, choice } from '../fields/fields.ts'
import { arrayOf, BOOLEAN, oneOf, STRING, TIME } from '../fields/schema.ts'
import { form, representation } from '../fields/table.ts'

const DS = '6454 13 2 8b2a5b1a2d1c4a8d3b7cf6f0d6a9a6e27b1d1c2e3f4a5b6c7d8e9fa0b1c2d3e4'

/** The replacement of the keys of a domain (contract §15.10). */
export const ROLLOVER = representation<ShownRollover>()(['Rollover'], {
  phase: {
    read: oneOf(...PHASES),
    text:
      'queued: it waits for its turn. sign: the new key signs. publish: it is in the zone. await-ds: the parent zone shall replace the DS. ' +
      'await-ds-ttl: caches may have the former DS. unpublish: caches may have the former keys.',
    example: 'await-ds',
  },
  since: { read: TIME, text: 'The beginning of the phase.' },
  waits_for: {
    read: oneOf('turn', 'nameservers', 'caches', 'signers', 'parent'),
    text:
      'What ends the phase: its turn comes, all name servers have it, resolvers have forgotten, other ' +
      'signers publish the new key (`…/confirm/`), or the parent zone has the new DS.',
    example: 'parent',
  },
  emergency: { read: BOOLEAN, text: 'Whether it does not wait for caches.', example: false },
  can_cancel: { read: BOOLEAN, text: 'Whether DELETE goes back to the former keys.', example: true },
  add_ds: {
    read: arrayOf(STRING),
    text: 'The contents of DS records that the parent zone shall have, of which one suffices. Empty before await-ds.',
    example: [DS],
  },
  remove_ds: {
    read: arrayOf(STRING),
    text: 'The contents of DS records that it shall not have any more. Empty before await-ds.',
    example: [],
  },
})

/** The request for a rollover. */
export const ROLLOVER_INPUT = form('RolloverInput', [], {
  algorithm: {
    write: choice(KEY_ALGORITHMS),
    text: 'The algorithm of the new key; by default ecdsa256.',
    example: 'ecdsa256',
  },
  return: {
    write: boolean(),
    text: 'Whether the former keys come back instead of a new one.',
    example: false,
  },
  emergency: {
    write: boolean(),
    text: 'Whether not to wait for caches: resolvers that have the former keys or DS reject the domain until they forget them.',
    example: false,
  },
})

/** The confirmation of a rollover. */
export const CONFIRMATION_INPUT = form('ConfirmationInput', [], {
  force: {
    write: boolean(),
    text:
      'Whether to confirm although the parent zone may have the former DS, with which validating resolvers reject the ' +
      'domain. Needs a login token.',
    example: false,
  },
})
