import { readFileSync } from 'node:fs'
import type { Comparison } from './support/measure.ts'

// Draws what `npm run bench -- --json FILE` has compared: `node build/bench/picture.js FILE > docs/performance.svg`.

const LABELS = 310
const WIDTH = 880
const BAR = 9
const ROW = 34
const TOP = 44

/** The ends of the scale, which is logarithmic, in milliseconds. */
const [LEAST, MOST] = [0.5, 1500]

/** One picture for light and dark pages: the colours follow the reader's. */
const STYLE = `
  text { font: 13px system-ui, sans-serif; fill: #1f2328 }
  .figure { font-size: 11px; fill: #59636e }
  .grid { stroke: #d1d9e0 }
  .ours { fill: #0969da }
  .theirs { fill: #afb8c1 }
  @media (prefers-color-scheme: dark) {
    text { fill: #f0f6fc }
    .figure { fill: #9198a1 }
    .grid { stroke: #3d444d }
    .ours { fill: #4493f8 }
    .theirs { fill: #6e7681 }
  }`

/** The milliseconds that the work takes once. */
function time(figure: number, unit: string): number {
  return unit === '/s' ? 1000 / figure : figure
}

function x(milliseconds: number): number {
  const share = Math.log(milliseconds / LEAST) / Math.log(MOST / LEAST)
  return Math.round(LABELS + Math.min(Math.max(share, 0), 1) * (WIDTH - LABELS - 70))
}

function bar(kind: string, y: number, milliseconds: number): string {
  const figure = milliseconds < 100 ? milliseconds.toPrecision(2) : milliseconds.toFixed(0)
  return (
    `<rect class="${kind}" x="${LABELS}" y="${y}" width="${x(milliseconds) - LABELS}" height="${BAR}" rx="2"/>` +
    `<text class="figure" x="${x(milliseconds) + 5}" y="${y + BAR}">${figure} ms</text>`
  )
}

function draw(comparisons: Comparison[]): string {
  const height = TOP + comparisons.length * ROW
  const grid = [1, 10, 100, 1000].map(
    (at) =>
      `<line class="grid" x1="${x(at)}" x2="${x(at)}" y1="${TOP - 10}" y2="${height}"/>` +
      `<text class="figure" x="${x(at) - 12}" y="${TOP - 16}">${at} ms</text>`,
  )
  const rows = comparisons.map(({ what, unit, ours, theirs }, i) => {
    const y = TOP + i * ROW
    const label = `<text x="${LABELS - 10}" y="${y + BAR + 4}" text-anchor="end">${what}</text>`
    return [label, bar('ours', y, time(ours, unit)), bar('theirs', y + BAR + 2, time(theirs, unit))].join('\n')
  })
  const legend =
    `<rect class="ours" x="0" y="8" width="12" height="12" rx="2"/><text x="18" y="19">Zoneplane</text>` +
    `<rect class="theirs" x="100" y="8" width="12" height="12" rx="2"/><text x="118" y="19">PowerDNS alone</text>`
  const title = 'The time of Zoneplane and of PowerDNS alone for the same work, on a logarithmic scale'
  return [
    `<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 ${WIDTH} ${height}" role="img" aria-label="${title}">`,
    `<style>${STYLE}</style>`,
    legend,
    ...grid,
    ...rows,
    '</svg>\n',
  ].join('\n')
}

process.stdout.write(draw(JSON.parse(readFileSync(process.argv[2]!, 'utf8')) as Comparison[]))
