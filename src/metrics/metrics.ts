import { collectDefaultMetrics, Counter, Gauge, Histogram, Registry } from 'prom-client'
import { BUCKETS, type LabelsOf, METRICS, type Name, type NameOf } from './definitions.ts'

/** The state of a process, for Prometheus. The package takes a while to load, so imports of this file are dynamic. */
export class Metrics {
  /** The type of `text`. */
  readonly contentType: string
  readonly #registry = new Registry()
  readonly #counters = new Map<Name, Counter>()
  readonly #gauges = new Map<Name, Gauge>()
  readonly #histograms = new Map<Name, Histogram>()
  readonly #samplers: (() => void)[] = []

  constructor() {
    this.contentType = this.#registry.contentType
    for (const [name, { kind, help, labels }] of Object.entries(METRICS) as [Name, (typeof METRICS)[Name]][]) {
      const options = { name, help, labelNames: Object.keys(labels), registers: [this.#registry] }
      if (kind === 'histogram') this.#histograms.set(name, new Histogram({ ...options, buckets: BUCKETS }))
      else if (kind === 'gauge') this.#gauges.set(name, new Gauge(options))
      else {
        const counter = new Counter(options)
        this.#counters.set(name, counter)
        // A counter that appears with its first event hides that event from the functions of Prometheus.
        for (const known of combinations(labels)) counter.inc(known, 0)
      }
    }
    // Memory, processor time, garbage collection, the lag of the event loop.
    collectDefaultMetrics({ register: this.#registry })
    // These are sums of others, and no counters, although their names say so.
    for (const each of ['handles', 'requests', 'resources']) {
      this.#registry.removeSingleMetric(`nodejs_active_${each}_total`)
    }
  }

  count<Each extends NameOf<'counter'>>(name: Each, labels: LabelsOf<Each>, by = 1): void {
    this.#counters.get(name)!.inc(labels, by)
  }

  set<Each extends NameOf<'gauge'>>(name: Each, labels: LabelsOf<Each>, value: number): void {
    this.#gauges.get(name)!.set(labels, value)
  }

  /** Adds a duration to a histogram. @param start by performance.now() */
  time<Each extends NameOf<'histogram'>>(name: Each, labels: LabelsOf<Each>, start: number): void {
    this.#histograms.get(name)!.observe(labels, (performance.now() - start) / 1000)
  }

  /** Calls `sample` before each scrape, to set gauges; it must not wait for anything. */
  onScrape(sample: () => void): void {
    this.#samplers.push(sample)
  }

  /** Returns all metrics in the text format of Prometheus. */
  async text(): Promise<string> {
    for (const sample of this.#samplers) sample()
    return this.#registry.metrics()
  }
}

/** Returns every combination of the known values of labels; none if those of a label are unknown. */
function combinations(labels: Record<string, readonly string[]>): Record<string, string>[] {
  return Object.entries(labels).reduce<Record<string, string>[]>(
    (known, [label, values]) => known.flatMap((each) => values.map((value) => ({ ...each, [label]: value }))),
    [{}],
  )
}
