import type { z } from 'zod'
import { tunnelFault } from './tunnel-fault.ts'

const BYTES_MAX = 64 * 1024

/**
 * Reads the JSON of a secret. @throws CliError that names the member and the rule that it breaks, never a value: the errors of
 * JSON.parse quote their input.
 */
export function readSecret<T>(secret: Uint8Array, shape: z.ZodType<T>, form: string): T {
  const value = secret.byteLength > BYTES_MAX ? undefined : parsed(secret)
  if (typeof value !== 'object' || value === null) throw tunnelFault(`The secret is not JSON of the form ${form}.`)
  const read = shape.safeParse(value)
  if (read.success) return read.data
  const [issue] = read.error.issues
  throw tunnelFault(`The secret has ${issue === undefined ? 'another form' : faultOf(issue)}; its form is ${form}.`)
}

function faultOf(issue: z.core.$ZodIssue): string {
  const member = issue.path.join('.')
  const rule = issue.code === 'custom' ? issue.message : ruleOf(issue.code)
  return `${member === '' ? 'a member that' : `a "${member}" that`} ${rule}`
}

function ruleOf(code: string): string {
  return code === 'unrecognized_keys' ? 'is not known' : 'is missing or malformed'
}

function parsed(secret: Uint8Array): unknown {
  try {
    return JSON.parse(new TextDecoder('utf-8', { fatal: true }).decode(secret))
  } catch {
    return undefined
  }
}
