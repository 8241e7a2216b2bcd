/** Tells whoever started the program what it does now. */
export function progress(text: string): void {
  console.log(`zoneplane: ${text}`)
}
