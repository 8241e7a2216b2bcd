import fc from 'fast-check'
import type { Account } from '../../support/clients/accounts.ts'
import { newDomainWithWww } from '../../support/clients/api.ts'
import { depth } from '../../support/depth.ts'
import { useService } from '../../support/harness.ts'
import { SEED } from '../../support/random.ts'
import { test } from '../../support/serial.ts'

// Requests that the OpenAPI document allows are not refused, except for what no schema can say.

const service = useService()

interface Schema {
  $ref?: string
  type?: string | string[]
  enum?: unknown[]
  anyOf?: Schema[]
  oneOf?: { required: string[] }[]
  not?: Schema
  properties?: Record<string, Schema>
  required?: string[]
  items?: Schema
  pattern?: string
  maxLength?: number
  minimum?: number
  maximum?: number
  minItems?: number
  maxItems?: number
}

interface Document {
  paths: Record<string, Record<string, { requestBody?: { content: Record<string, { schema: Schema }> } }>>
  components: { schemas: Record<string, Schema> }
}

/** Values that a schema allows. */
function valuesOf(document: Document, schema: Schema): fc.Arbitrary<unknown> {
  const { $ref, anyOf, type = 'object', enum: values } = schema
  if ($ref !== undefined) return valuesOf(document, document.components.schemas[$ref.split('/').at(-1)!]!)
  if (values !== undefined) return fc.constantFrom(...values)
  if (anyOf !== undefined) return fc.oneof(...anyOf.map((each) => valuesOf(document, each)))
  return fc.oneof(...[type].flat().map((each) => valuesOfType(document, each, schema)))
}

function valuesOfType(document: Document, type: string, schema: Schema): fc.Arbitrary<unknown> {
  const { pattern, minimum, maximum, items, minItems = 0, maxItems = 4, maxLength = Infinity } = schema
  switch (type) {
    case 'null':
      return fc.constant(null)
    case 'boolean':
      return fc.boolean()
    case 'integer':
      return fc.integer({
        ...(minimum !== undefined && { min: minimum }),
        ...(maximum !== undefined && { max: maximum }),
      })
    case 'number': {
      const numbers = fc.double({ min: minimum ?? -1e20, max: maximum ?? 1e20, noNaN: true })
      return schema.not === undefined ? numbers : numbers.filter((number) => !Number.isInteger(number))
    }
    case 'string': {
      const texts = pattern === undefined ? fc.string() : fc.stringMatching(new RegExp(pattern, 'u'), { size: 'small' })
      return texts.filter((text) => Array.from(text).length <= maxLength)
    }
    case 'array':
      return fc.array(valuesOf(document, items!), { minLength: minItems, maxLength: Math.min(maxItems, minItems + 3) })
    default:
      return objectsOf(document, schema)
  }
}

function objectsOf(document: Document, { properties = {}, required = [], oneOf, not }: Schema): fc.Arbitrary<unknown> {
  const members = Object.fromEntries(Object.entries(properties).map(([name, each]) => [name, valuesOf(document, each)]))
  const objects = fc.record(members, { requiredKeys: required })
  return objects.filter((object) => {
    const has = (names: string[] = []) => names.every((name) => Object.hasOwn(object, name))
    return (
      !(not !== undefined && has(not.required)) &&
      (oneOf ?? [{ required: [] }]).filter((one) => has(one.required)).length === 1
    )
  })
}

/** The rules that depend on other members, other objects or the whole of a text. */
const UNSAID = [
  // Other objects of the account or of the service.
  /^domain with this name already exists\.$/,
  /^This domain name conflicts with an existing domain, or is disallowed by policy\.$/,
  /^There is nothing to restore\.$/,
  /^Another RRset with the same subdomain and type exists /,
  /^Object with name=.* does not exist\.$/s,
  /^Policy precedence: /,
  /^There is no history of that (time|version)\.$/,
  /^This code is invalid, /,
  // The minimum TTL of the domain.
  /^Ensure this value is greater than or equal to \d+\.$/,
  // Fields that an RRset needs if it does not exist, and those that the path determines.
  /^This field is required\.$/,
  /^Can only be written on create\.$/,
  // Fields that exclude or need each other.
  /^Cannot be combined with return\.$/,
  /^Cannot be given without restore\.$/,
  /^subname and subname_pattern are mutually exclusive\.$/,
  // The contents of records, by type.
  /^This field combined with the domain name must not exceed 255 characters\.$/,
  /^Zonefile (contains|includes) /,
  /^Could not parse zonefile: /,
  /^[^ ]+\/[A-Z0-9]+: /,
  // The bits of a network, and the kinds of addresses.
  /^Item \d+: Must be (a network address|public addresses|unicast addresses|one address|in addresses)\.$/,
  // The sum of the parts of a duration, the days of a month, the length of the part before an @.
  /^Ensure this value is (less than or equal to 365000 days|greater than or equal to 0)/,
  /^Datetime has wrong format\./,
  /^Enter a valid email address\.$/,
]

/** All texts but those about RRsets as a whole: the contents of their records, and what they do to each other. */
function problemsOf(path: string, body: unknown): string[] {
  if (typeof body === 'string') return [body]
  const isWhole = (member: string) => member === 'non_field_errors' && /domains.*rrsets/.test(path)
  return Object.entries(Object(body) as object).flatMap(([member, problem]) =>
    isWhole(member) ? [] : problemsOf(path, problem),
  )
}

let account: Account
let places: Record<string, string>

test.before('an account with a domain and a token', async () => {
  account = await service().account()
  await newDomainWithWww(account.api, 'described.test')
  const { id } = (await account.api.post('/auth/tokens/')).json as { id: string }
  places = { name: 'described.test', subname: 'www', type: 'A', id, action: 'activate-account', code: 'x' }
})

test('requests that the document allows are refused only for what no schema can say', async (t) => {
  const document = (await service().anonymous.get('/openapi.json')).json as Document
  let accepted = 0
  for (const [template, operations] of Object.entries(document.paths)) {
    for (const [method, { requestBody }] of Object.entries(operations)) {
      const schema = requestBody?.content['application/json']?.schema
      if (schema === undefined) continue
      const path = template.replaceAll(/{(\w+)}/g, (_, name: string) => places[name] ?? 'x')
      for (const body of fc.sample(valuesOf(document, schema), { numRuns: depth(25, 500), seed: SEED })) {
        const { status, json } = await account.api.send(method.toUpperCase(), `//root${path}`, body)
        if (status < 300) accepted++
        if (status !== 400) continue
        const said = problemsOf(path, json).filter((text) => !UNSAID.some((rule) => rule.test(text)))
        t.deepEqual(said, [], `${method} ${path} ${JSON.stringify(body)}`)
      }
    }
  }
  t.true(accepted > 100, `${accepted} were accepted`)
})
