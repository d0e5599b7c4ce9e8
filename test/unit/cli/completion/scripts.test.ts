import { execFileSync } from 'node:child_process'
import { readFileSync } from 'node:fs'
import { fileURLToPath } from 'node:url'
import { describe, expect, it } from 'vitest'
import { bashScript } from '../../../../src/cli/completion/bash.ts'
import { fishScript } from '../../../../src/cli/completion/fish.ts'
import { outline } from '../../../../src/cli/completion/outline.ts'
import { zshScript } from '../../../../src/cli/completion/zsh.ts'
import { manifest } from '../../../support/cli/cli-run.ts'
import { requirement } from '../../../support/run/requirements.mjs'

const DIRECTORY = fileURLToPath(new URL('../../../../completions/', import.meta.url))
const places = await outline(manifest)

describe('The committed completion', () => {
  it.each([
    ['ctl.bash', bashScript(places)],
    ['_ctl', zshScript(places)],
    ['ctl.fish', fishScript(places)],
  ])('%s is what the command tree says; else run "npm run generate"', (file, text) => {
    expect(readFileSync(DIRECTORY + file, 'utf8')).toBe(text)
  })
})

/** A line up to the cursor, and what must be offered there: all of it, in this order where the shell keeps one. */
const LINES: readonly (readonly [line: string, offered: readonly string[]])[] = [
  ['ctl nodes l', ['list']],
  ['ctl nodes nsk ', ['revoke', 'rotate']],
  ['ctl --context prod tok', ['tokens']],
  ['ctl nodes list --reach', ['--reachability']],
  ['ctl nodes list --reachability h', ['healthy']],
  ['ctl nodes list -o j', ['json', 'jsonl']],
  ['ctl api PO', ['POST']],
  ['ctl completion install --shell ', ['bash', 'fish', 'zsh']],
]

describe('Completion in bash', () => {
  it.each(LINES)('offers for %j', (line, offered) => {
    const script = `source "${DIRECTORY}ctl.bash"; read -ra COMP_WORDS <<< "$1"; [[ $1 == *' ' ]] && COMP_WORDS+=(''); COMP_CWORD=$((\${#COMP_WORDS[@]} - 1)); _ctl; printf '%s\\n' "\${COMPREPLY[@]}"`
    const text = execFileSync('bash', ['--norc', '-c', script, 'bash', line], { encoding: 'utf8' })
    expect(text.trim().split('\n').toSorted()).toEqual([...offered])
  })
})

describe.skipIf(requirement('fish') === undefined)('Completion in fish', () => {
  it.each(LINES)('offers for %j', (line, offered) => {
    const script = `source ${DIRECTORY}ctl.fish; complete -C "$argv[1]"`
    const text = execFileSync('fish', ['--no-config', '-c', script, line], { encoding: 'utf8' })
    expect(
      text
        .trim()
        .split('\n')
        .map((one) => one.split('\t')[0])
        .toSorted(),
    ).toEqual([...offered])
  })
})

describe.skipIf(requirement('zsh') === undefined)('Completion in zsh', () => {
  it.each(LINES)('offers for %j', (line, offered) => {
    // Stands in for the completion system: what would be offered is printed, filtered as zsh does by the word begun.
    const script = [
      'compdef() { : }',
      'compadd() { shift; print -rl -- "$@" }',
      '_describe() { [[ $1 == -o ]] && shift; print -rl -- "${(@)${(P)2}%%:*}" }',
      `source ${DIRECTORY}_ctl`,
      'words=(${=1}); [[ $1 == *" " ]] && words+=("")',
      'CURRENT=${#words}; _ctl',
    ].join('\n')
    const text = execFileSync('zsh', ['-f', '-c', script, 'zsh', line], { encoding: 'utf8' })
    const begun = line.split(' ').at(-1) ?? ''
    expect(
      text
        .trim()
        .split('\n')
        .filter((one) => one.startsWith(begun))
        .toSorted(),
    ).toEqual([...offered])
  })
})
