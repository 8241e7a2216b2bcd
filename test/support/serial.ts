import ava from 'ava'

/**
 * Declares tests that run one after the other. Where every test makes domains, all of a file at once would wait for
 * their turns longer than the service lets them when the machine is busy.
 */
export const test = ava.serial
