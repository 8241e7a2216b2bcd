import fc from 'fast-check'

/** One string for each character. */
export function chars(text: string): string[] {
  return Array.from(text)
}

/** Characters with a meaning in some field, and some without. */
export const NASTY = fc.constantFrom(
  ...chars('\\"();@$.,:*-_+=/!0129afgmzANTZ \t\r\n\0\x7füß\u{1f600}\ud800'),
  '\\#',
  '\\032',
  '\\256',
  '\\092',
  '::',
  'key1=',
)

/** Some characters to insert, to replace or to delete. */
export const EDITS = fc.array(fc.record({ at: fc.nat(), cut: fc.nat(2), put: fc.option(NASTY) }), {
  minLength: 1,
  maxLength: 3,
})

/** The text after these edits. */
export function edited(text: string, edits: { at: number; cut: number; put: string | null }[]): string {
  return edits.reduce((was, { at, cut, put }) => {
    const start = at % (was.length + 1)
    return was.slice(0, start) + (put ?? '') + was.slice(start + cut)
  }, text)
}
