import type { ArgumentSpec, FlagSpec } from '../../argv/flags.ts'

/** The one Cloud that a command is about. */
export const CLOUD: ArgumentSpec = { name: 'cloud', describe: 'Cloud', noun: 'clouds', required: true }

/** A package, as every command of the catalogue takes it. */
export const PACKAGE = { kind: 'many', value: 'SOURCE@VERSION' } as const satisfies Omit<FlagSpec, 'describe'>
