import { describe, expect, it } from 'vitest'
import { globPattern } from '../../../../../src/cli/commands/authz/glob.ts'

describe('A pattern that the shell left alone', () => {
  it.each([
    ['*.yaml', 'a.yaml', true],
    ['*.yaml', 'b/a.yaml', false],
    ['**/*.yaml', 'a.yaml', true],
    ['**/*.yaml', 'b/c/a.yaml', true],
    ['b/**/*.yaml', 'b/a.yaml', true],
    ['?.yaml', 'a.yaml', true],
    ['?.yaml', 'ab.yaml', false],
    ['[ab].yaml', 'b.yaml', true],
    ['[!ab].yaml', 'b.yaml', false],
    ['*.{yaml,yml}', 'a.yml', true],
    ['*.{yaml,yml}', 'a.zed', false],
    ['a+b(c).yaml', 'a+b(c).yaml', true],
    ['a.yaml', 'axyaml', false],
  ])('%s and %s: %s', (glob, path, expected) => {
    expect(globPattern(glob).test(path)).toBe(expected)
  })
})
