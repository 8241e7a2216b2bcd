/** What a middleware does to the requests and responses that pass it, for the document. */
export interface Effect {
  /** A token is needed, or used if presented, or needed in one of the forms of dynDNS. Without it: none is read. */
  security?: 'token' | 'optional' | 'update'
  /** Why it refuses requests. */
  errors?: Errors
  /** The request headers that it reads; a key of `described-headers.ts`. */
  reads?: readonly string[]
  /** The headers that it adds to responses of success. */
  tells?: readonly string[]
  /** Responses to submitted forms are HTML pages. */
  pages?: true
}

/** The texts of errors by status: all those that clients may have to tell apart. */
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
