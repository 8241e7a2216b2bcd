import { createRequire } from 'node:module'

const required = createRequire(import.meta.url)

/**
 * Returns a function that loads a package when it is first called. It is for large packages that most commands do without:
 * imports take most of a command's time.
 */
export function onDemand<T>(load: (require: NodeJS.Require) => T): () => T {
  let loaded: T | undefined
  return () => (loaded ??= load(required))
}
