/** The effect of a middleware on the requests and responses that pass it, for the document. */
export interface Effect {
  /** The use of a token: required, or used if presented, or required in a form of dynDNS or as PowerDNS' key. Without it: none is read. */
  security?: 'token' | 'optional' | 'update' | 'key'
  /** The errors with which it rejects requests. */
  errors?: Errors
  /** The members of its responses 400. */
  problems?: readonly string[]
  /** The request headers that it reads; a key of `described-headers.ts`. */
  reads?: readonly string[]
  /** The headers that it adds to responses of success. */
  responseHeaders?: readonly string[]
  /** True if responses to submitted forms are HTML pages. */
  pages?: true
}

/** The texts of errors by status: all those that clients may have to distinguish. */
export type Errors = Readonly<Record<number, readonly string[]>>

export function merged(parts: readonly (Errors | undefined)[]): Errors {
  const all: Record<number, string[]> = {}
  for (const part of parts) {
    for (const [status, texts] of Object.entries(part ?? {})) {
      const known = (all[Number(status)] ??= [])
      known.push(...texts.filter((text) => !known.includes(text)))
    }
  }
  return all
}
