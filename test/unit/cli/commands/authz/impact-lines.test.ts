import { describe, expect, it } from 'vitest'
import type { Impact } from '../../../../../src/cli/commands/authz/impact-answer.ts'
import { impactLines, impactSummary } from '../../../../../src/cli/commands/authz/impact-lines.ts'
import { naming } from '../../../../../src/cli/commands/authz/naming.ts'
import type { Style } from '../../../../../src/cli/output/style.ts'

const same = (text: string): string => text
const PLAIN: Style = { bold: same, dim: same, good: same, warn: same, bad: same }

const change = (subject: string, permission: string, resource: string, how: 'gains' | 'loses' = 'gains') => ({
  subject,
  permission,
  resource,
  change: how,
})

function impactOf(changes: Impact['changes'], more: Partial<Impact> = {}): Impact {
  return { changes, count: changes.length, hidden_count: 0, complete: true, ...more }
}

const linesOf = (impact: Impact) => impactLines(impact, naming(new Map()), PLAIN)

describe('The impact of a change', () => {
  it('has one line for all objects on which somebody gains the same', () => {
    const impact = impactOf([
      change('user:ann', 'deploy', 'project:web'),
      change('user:ann', 'read', 'project:web'),
      change('user:ann', 'read', 'node:n1'),
      change('user:ann', 'read', 'node:n2'),
      change('serviceaccount:ci', 'read', 'node:n1', 'loses'),
    ])
    expect(linesOf(impact)).toEqual([
      '+ user:ann gains deploy, read on project:web',
      '+ user:ann gains read on node:n1, node:n2',
      '- service:ci loses read on node:n1',
    ])
    expect(impactSummary(impact)).toBe('Would change 5 permissions: 4 gained, 1 lost. Nothing was done.')
  })

  it('names five objects of a line and counts the others', () => {
    const impact = impactOf(Array.from({ length: 8 }, (_, at) => change('user:*', 'read', `node:n${at}`)))
    expect(linesOf(impact)).toEqual([
      '+ everyone (user:*) gains read on node:n0, node:n1, node:n2, node:n3, node:n4 and 3 more',
    ])
  })

  it('has twenty lines at most and counts the changes that are not on them', () => {
    const impact = impactOf(
      Array.from({ length: 25 }, (_, at) => change(`user:u${at}`, 'read', 'node:n1')),
      { count: 40, hidden_count: 2, complete: false },
    )
    const lines = linesOf(impact)
    expect(lines).toHaveLength(21)
    expect(lines.at(-1)).toBe('and 18 more')
    expect(impactSummary(impact)).toBe(
      'Would change at least 40 permissions. 2 of them on what you may not see. Nothing was done.',
    )
  })

  it('is nothing where nothing would change', () => {
    expect(linesOf(impactOf([]))).toEqual([])
    expect(impactSummary(impactOf([]))).toBe('Nothing would change.')
  })

  it('is not nothing where not everything was asked', () => {
    expect(impactSummary(impactOf([], { complete: false }))).toBe(
      'Would change at least 0 permissions. Nothing was done.',
    )
  })
})
