import type { components } from '../../build/api-types.d.ts'

export type Account = components['schemas']['Account']
export type Factor = components['schemas']['Factor']
export type NewFactor = components['schemas']['NewFactor']
