import { readFileSync } from 'node:fs'
import { join } from 'node:path'
import { CONTRACT, EVENTS, findBase, NoBase } from './base.mjs'
import { differences } from './differences.mjs'
import { eventDifferences } from './event-differences.mjs'
import { applyExceptions, EXCEPTIONS, readExceptions } from './exceptions.mjs'
import { judgeMarkers } from './markers.mjs'
import { openRepository } from './repository.mjs'

/**
 * Compares the contract of a working tree with its base (S1 Versioning 7), and judges its deprecation markers, with or without a base.
 *
 * @param checkMarker see markers.mjs
 * @param nowMs when it runs: a sunset may have passed
 * @returns {{ outcome: 'passed' | 'failed' | 'skipped', lines: string[] }} what to print, and how it ended
 */
export function runGate({ root, env, checkMarker, nowMs = Date.now() }) {
  const [openapi, events] = [CONTRACT, EVENTS].map((path) => JSON.parse(readFileSync(join(root, path), 'utf8')))
  const markers = judgeMarkers({ openapi, events }, { check: checkMarker, nowMs })
  try {
    const repository = openRepository(root)
    const base = findBase(repository, env)
    const found = [
      ...differences({ base: JSON.parse(base.text), next: openapi }),
      ...eventDifferences({ base: JSON.parse(base.events), next: events }),
    ]
    const exceptions = readExceptions(readOr(join(root, EXCEPTIONS), '[]'))
    const before = readExceptions(repository.fileAt(base.commit, EXCEPTIONS) ?? '[]').entries
    const verdict = applyExceptions(found, { entries: exceptions.entries, before })
    const wrong = [...exceptions.errors.map((error) => `${EXCEPTIONS}: ${error}`), ...markers.errors]
    return report({ base, found, wrong, warnings: markers.warnings, ...verdict })
  } catch (error) {
    if (error instanceof NoBase) return withoutBase(error, markers)
    throw error
  }
}

function withoutBase({ outcome, message }, { errors, warnings }) {
  return {
    outcome: errors.length > 0 ? 'failed' : outcome,
    lines: [`Not compared: ${message}`, ...markerLines({ wrong: errors, warnings })],
  }
}

function markerLines({ wrong, warnings }) {
  return [...warnings.map((warning) => `WARN    ${warning}`), ...wrong.map((error) => `FAILED  ${error}`)]
}

function readOr(path, fallback) {
  try {
    return readFileSync(path, 'utf8')
  } catch (error) {
    if (error.code === 'ENOENT') return fallback
    throw error
  }
}

function report({ base, found, wrong, warnings, broken, excepted, unmatched, removable }) {
  const of = (level) => found.filter((finding) => finding.level === level)
  const isGood = broken.length + unmatched.length + wrong.length === 0
  return {
    outcome: isGood ? 'passed' : 'failed',
    lines: [
      `Compared with ${base.words}.`,
      ...broken.map(line),
      ...excepted.map((finding) => `${line(finding)}\n        excepted: ${finding.reason}`),
      ...[...of('WARN'), ...of('INFO')].map(line),
      ...unmatched.map(
        (entry) => `FAILED  this change adds an exception that matches no breaking finding: ${place(entry)}`,
      ),
      ...removable.map((entry) => `NOTE    this exception matches nothing any more and can go: ${place(entry)}`),
      ...markerLines({ wrong, warnings }),
      `${broken.length} breaking, ${excepted.length} excepted, ${of('WARN').length} to look at, ${of('INFO').length} compatible.`,
      ...(broken.length === 0 ? [] : [ADVICE]),
    ],
  }
}

const ADVICE = `A break needs a new major version, or an entry in ${EXCEPTIONS} with these very words and a reason.`

function line(finding) {
  return `${finding.level.padEnd(7)} ${place(finding)}`
}

/** In the words that an exception repeats. */
function place({ id, method, path, detail }) {
  return `${method} ${path}  ${id}  ${detail}`
}
