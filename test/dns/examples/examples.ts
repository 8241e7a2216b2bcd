/** Contents of one record type. */
export interface Examples {
  /** What is accepted: its canonical text alone, or input and canonical text. */
  accepted: (string | [input: string, canonical: string])[]
  /** What is refused, and the whole text about it. */
  rejected: [input: string, text: string][]
}

/** A refusal in the general form of contract §9.3. */
export function malformed(type: string, reason: string): string {
  return `Record content for type ${type} malformed: ${reason}`
}

export const NOT_QUALIFIED = 'Hostname must be fully qualified (i.e., end in a dot: "example.com.")'
export const TOO_LONG = 'Hostname must be no longer than 255 characters'
export const IDN = 'A DNS label is not ASCII; write it in Punycode ("xn--...").'
