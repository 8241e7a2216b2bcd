/** Contents of one record type. */
export interface Examples {
  /** Accepted content: only its canonical text, or input and canonical text. */
  accepted: (string | [input: string, canonical: string])[]
  /** Refused content, and the whole error text. */
  rejected: [input: string, text: string][]
}

/** A refusal in the general form of contract §9.3. */
export function malformed(type: string, reason: string): string {
  return `Record content for type ${type} malformed: ${reason}`
}

export const NOT_QUALIFIED = 'Hostname must be fully qualified (i.e., end in a dot: "example.com.")'
export const TOO_LONG = 'Hostname must be no longer than 255 characters'
export const IDN = 'A DNS label is not ASCII; write it in Punycode ("xn--...").'
