import type { LocalService } from '../support/servers/service.ts'

/** What a process tells Prometheus: each series, with its labels as they are written, and its value. */
export async function scrape({ metricsPort }: Pick<LocalService, 'metricsPort'>): Promise<Map<string, number>> {
  const text = await scrapedText({ metricsPort })
  const lines = text.split('\n').filter((line) => line !== '' && !line.startsWith('#'))
  return new Map(
    lines.map((line) => [line.slice(0, line.lastIndexOf(' ')), Number(line.slice(line.lastIndexOf(' ') + 1))]),
  )
}

export async function scrapedText({ metricsPort }: Pick<LocalService, 'metricsPort'>): Promise<string> {
  const response = await fetch(`http://127.0.0.1:${metricsPort}/metrics`)
  if (response.status !== 200) throw new Error(`a scrape was answered with ${response.status}`)
  return response.text()
}

/** By how much series have grown while `work` ran; those that have not are left out. */
export async function growthOf(
  service: Pick<LocalService, 'metricsPort'>,
  work: () => Promise<unknown>,
): Promise<Map<string, number>> {
  const before = await scrape(service)
  await work()
  const after = await scrape(service)
  const grown = [...after].map(([series, value]) => [series, value - (before.get(series) ?? 0)] as const)
  return new Map(grown.filter(([, growth]) => growth !== 0))
}
