import { describe, expect, it } from 'vitest'
import { nearest } from '../../../src/shared/nearest.ts'

const WORDS = ['list', 'show', 'deregister', 'reachability', 'nodes', 'domains']

describe('The nearest word', () => {
  it.each([
    ['lst', 'list'],
    ['lsit', 'list'],
    ['SHOW', 'show'],
    ['nodez', 'nodes'],
    ['rechability', 'reachability'],
    ['dereg', 'deregister'],
    ['xyz', undefined],
    ['no', undefined],
    ['', undefined],
  ])('of %j is %j', (word, expected) => {
    expect(nearest(word, WORDS)).toBe(expected)
  })
})
