import test from 'ava'
import { REGISTRY } from '../../src/dns/registry.ts'
import { AUTOMATIC_TYPES, typeProblems, TYPES } from '../../src/dns/types.ts'

const LOWER = 'Type must be uppercase alphanumeric and start with a letter.'

test('the texts about a type', (t) => {
  for (const type of TYPES.keys()) t.deepEqual(typeProblems(type), [])
  for (const type of AUTOMATIC_TYPES) {
    t.deepEqual(typeProblems(type), [`You cannot tinker with the ${type} RR set. It is managed automatically.`])
  }
  t.deepEqual(typeProblems('TYPE65534'), ['Generic type format is not supported.'])
  t.deepEqual(typeProblems('ANAME'), ['The ANAME RR set type is currently unsupported.'])
  t.deepEqual(typeProblems('constructor'), [
    'Ensure this field has no more than 10 characters.',
    'Invalid value (not uppercase): constructor',
    LOWER,
  ])
})

test('a type that is not well written is not looked up', (t) => {
  t.deepEqual(typeProblems('soa'), ['Invalid value (not uppercase): soa', LOWER])
  t.deepEqual(typeProblems('Txt'), ['Invalid value (not uppercase): Txt', LOWER])
  for (const type of ['', '1A', 'A-B', 'A ', 'A\n', 'Ä']) t.deepEqual(typeProblems(type), [LOWER], type)
  t.deepEqual(typeProblems('ABCDEFGHIJK'), ['Ensure this field has no more than 10 characters.'])
})

test('names and numbers are unique in the registry', (t) => {
  const { unnamed, ...numbered } = REGISTRY
  const types = Object.values(numbered).flatMap(Object.entries<number>)
  const names = [...types.map(([name]) => name), ...unnamed]
  t.is(new Set(names).size, names.length)
  t.is(new Set(types.map(([, number]) => number)).size, types.length)
})
