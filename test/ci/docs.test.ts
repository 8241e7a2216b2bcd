import test from 'ava'
import { existsSync, readFileSync } from 'node:fs'
import { join } from 'node:path'
import { parse } from 'yaml'
import { projectFolder } from '../../src/installation/project.ts'
import { composeProblems } from '../support/compose.ts'
import { settings } from '../support/settings.ts'

// The examples of docs/ci.md.

interface Example {
  jobs?: { test: { services: { zoneplane: { options: string; ports: string[]; env: Record<string, string> } } } }
  services?: { zoneplane: { ports: string[]; environment: Record<string, string>; build: { target: string } } }
}

const text = readFileSync(join(projectFolder(), 'docs', 'ci.md'), 'utf8')
const examples = [...text.matchAll(/^```yaml\n([^]*?)^```$/gm)].map(([, yaml]) => parse(yaml!) as Example)
const workflow = examples.find(({ jobs }) => jobs !== undefined)!.jobs!.test.services.zoneplane
const compose = examples.find(({ services }) => services !== undefined)!
const image = readFileSync(join(projectFolder(), 'Dockerfile'), 'utf8')
  .split(/^FROM /m)
  .find((stage) => / AS ci\n/.test(stage))!

/** The ports of the container that an example publishes. */
function published(ports: string[]): string[] {
  return ports
    .map((port) =>
      port
        .split(':')
        .at(-1)!
        .replace(/\/tcp$/, ''),
    )
    .sort()
}

test('the examples publish what the image exposes, and name settings that exist', (t) => {
  const exposed = /^EXPOSE (.*)$/m.exec(image)![1]!.split(' ')
  for (const [ports, environment] of [
    [workflow.ports, workflow.env],
    [compose.services!.zoneplane.ports, compose.services!.zoneplane.environment],
  ] as const) {
    t.deepEqual(published(ports), exposed.map((port) => port.replace(/\/tcp$/, '')).sort())
    for (const name of Object.keys(environment)) t.true(settings().has(name), name)
  }
})

test('the workflow waits for the health check that the image has', (t) => {
  const [, command] = /--health-cmd (\S+)/.exec(workflow.options)!
  t.true(image.includes(`CMD ["${command!}"]`))
  t.true(existsSync(join(projectFolder(), command!.replace('/zoneplane/', ''))))
})

test('the compose file is valid by the JSON schema of the compose specification', (t) => {
  t.is(composeProblems(compose), undefined)
  t.is(compose.services!.zoneplane.build.target, 'ci')
})
