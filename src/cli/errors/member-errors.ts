import { membersOf, type Member } from '../derive/members.ts'
import { isRow, type Row } from '../output/members.ts'
import type { Refusal } from './hints.ts'

/**
 * What the server says of single members of a request: under the names of their flags and arguments where the command is the
 * one of the operation, else under their own.
 */
export function memberErrors({ problem, session, words }: Refusal): readonly string[] {
  const errors = problem.document['errors']
  if (!Array.isArray(errors)) return []
  const operation = session.manifest().operations[problem.operationId ?? '']
  const members = operation?.cli?.command === words ? membersOf(operation) : []
  return errors.filter(isRow).flatMap((error) => {
    const { pointer } = error
    return typeof pointer === 'string' ? [`  ${place(pointer, members)}: ${detailOf(error)}`] : []
  })
}

/** What is wrong with a member; of a selector also where, in bytes. */
function detailOf({ detail, message, offset }: Row): string {
  return typeof detail === 'string' ? detail : `at byte ${String(offset)}: ${String(message)}`
}

/** `/provider_packages/0/source` is `--package 1, source`: a person counts flags from 1. */
function place(pointer: string, members: readonly Member[]): string {
  const [name = '', ...inside] = pointer.replace(/^\//, '').split('/')
  const member = members.find(({ field }) => field.name === name)
  if (member === undefined) return [name, ...inside].join('.')
  const flag = member.position === undefined ? `--${member.word}` : `<${member.word}>`
  return [flag, ...inside.map((step) => (/^\d+$/.test(step) ? String(Number(step) + 1) : step))].join(' ')
}
