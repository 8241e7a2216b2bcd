/** Reports the progress of the program to its user. */
export function progress(text: string): void {
  console.log(`zoneplane: ${text}`)
}
