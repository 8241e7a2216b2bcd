import pLimit from 'p-limit'

/** The servers that an inquiry asks at the same time. */
const PARALLEL = 4

/**
 * The questions that belong together, such as those of a check. Few servers are asked at the same time: the questions of
 * others wait for these, not for all that a stranger's zone causes. Each is asked its questions one after the other, so
 * that an inquiry that ends early has whole answers.
 */
export class Inquiry {
  /** Asks a server when the other ones leave room. */
  readonly limit = pLimit(PARALLEL)
  /** Reports whether its time has passed, or nobody waits for it any more. Then it asks nothing more. */
  readonly isOver: () => boolean

  constructor(isOver: () => boolean) {
    this.isOver = isOver
  }
}
