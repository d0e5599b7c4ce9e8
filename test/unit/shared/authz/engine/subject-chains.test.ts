import * as fc from 'fast-check'
import { expect, test } from 'vitest'
import { NONE } from '../../../../../src/shared/authz/engine/edge-chains.ts'
import { PairTable } from '../../../../../src/shared/authz/engine/pair-table.ts'
import { SubjectChains } from '../../../../../src/shared/authz/engine/subject-chains.ts'

const HEAD = 2

function chainsOf() {
  const owners = new PairTable(1)
  const edges = new PairTable(2)
  const heads = { owners, field: HEAD }
  const owner = owners.insert(0, 0)
  return { edges, heads, owner, chains: new SubjectChains(edges, 2) }
}

function walked(first: number, next: (edge: number) => number): number[] {
  const all: number[] = []
  for (let edge = first; edge !== NONE && all.length < 1000; edge = next(edge)) all.push(edge)
  return all
}

const steps = fc.array(fc.record({ key: fc.nat(12), isNesting: fc.boolean() }), { maxLength: 200 })

test('a list holds the edges that nest, the newest first, and behind them all others, the oldest first', () => {
  fc.assert(
    fc.property(steps, (history) => {
      const { edges, heads, owner, chains } = chainsOf()
      let nesting: number[] = []
      let others: number[] = []
      for (const { key, isNesting } of history) {
        const known = edges.find(key, 0)
        if (known !== NONE) {
          chains.drop(heads, owner, known)
          edges.remove(known)
          nesting = nesting.filter((edge) => edge !== known)
          others = others.filter((edge) => edge !== known)
        } else {
          const edge = edges.insert(key, 0)
          if (isNesting) nesting.unshift(edge)
          else others.push(edge)
          if (isNesting) chains.pushNesting(heads, owner, edge)
          else chains.push(heads, owner, edge)
        }
        expect(walked(chains.first(heads, owner), (at) => chains.next(at))).toEqual([...nesting, ...others])
        expect(walked(chains.firstNesting(heads, owner), (at) => chains.nextNesting(at))).toEqual(nesting)
      }
    }),
  )
})
