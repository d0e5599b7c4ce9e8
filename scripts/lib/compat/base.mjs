/** Where the contract lies, and what it is compared with where history has nothing to compare it with. */
export const CONTRACT = 'docs/contract/openapi.json'
export const RELEASED = 'docs/contract/released.json'
/** What nodes are sent that the OpenAPI document does not show, and its counterpart of the last release. */
export const EVENTS = 'docs/contract/events.json'
export const RELEASED_EVENTS = 'docs/contract/released-events.json'

/** What a branch leaves, where nobody says. */
const DEFAULT_BRANCHES = ['origin/main', 'main']

/** A reason to stop: the gate fails, or is left out. */
export class NoBase extends Error {
  constructor(outcome, message) {
    super(message)
    this.name = 'NoBase'
    /** `failed` or `skipped`. */
    this.outcome = outcome
  }
}

/**
 * Finds what the working tree is compared with (S1 Versioning 7): the contract at the merge-base with the base branch;
 * on that branch itself, and where the merge-base is older than the gate, the contract of the last release as HEAD has it.
 *
 * @returns {{ text: string, events: string, commit: string, words: string }} both documents, the commit whose exceptions were
 *   there before
 * @throws NoBase
 */
export function findBase(repository, env) {
  const name = baseBranch(repository, env)
  if (name === undefined) return released(repository, 'no base branch is here and none is named')
  const mergeBase = repository.mergeBase(name, 'HEAD')
  if (mergeBase === undefined) {
    throw new NoBase('failed', `HEAD and ${name} share no history; a shallow clone has to be deepened.`)
  }
  if (mergeBase === repository.commit('HEAD')) return released(repository, `HEAD itself is the merge-base with ${name}`)
  const text = repository.fileAt(mergeBase, CONTRACT)
  if (text === undefined) return released(repository, `${name} at ${mergeBase.slice(0, 9)} has no ${CONTRACT}`)
  const words = `${CONTRACT} at ${mergeBase.slice(0, 9)}, the merge-base with ${name}`
  // A merge-base that is older than the document of the events is compared with the frozen copy of them.
  const events = repository.fileAt(mergeBase, EVENTS) ?? frozen(repository, RELEASED_EVENTS, `${name} has no ${EVENTS}`)
  return { text, events, commit: mergeBase, words }
}

/** The branch that is named, or the first of the usual ones; undefined in CI when nothing is named and none is there. */
function baseBranch(repository, { CTL_COMPAT_BASE: named, CI }) {
  const isNamed = named !== undefined && named !== ''
  const found = (isNamed ? [named] : DEFAULT_BRANCHES).find((name) => repository.commit(name) !== undefined)
  if (found !== undefined) return found
  if (!CI) throw new NoBase('skipped', `${isNamed ? named : DEFAULT_BRANCHES.join(' and ')} does not resolve here.`)
  if (isNamed) throw new NoBase('failed', `The base ${named} does not resolve.`)
  return undefined
}

function released(repository, why) {
  return {
    text: frozen(repository, RELEASED, why),
    events: frozen(repository, RELEASED_EVENTS, why),
    commit: repository.commit('HEAD'),
    words: `${RELEASED} as committed, since ${why}`,
  }
}

const CURRENT = { [RELEASED]: CONTRACT, [RELEASED_EVENTS]: EVENTS }

/** A document of the last release as committed: what a change does to the file does not decide about the change. */
function frozen(repository, path, why) {
  const current = CURRENT[path]
  if (isItself(repository, path, current)) {
    throw new NoBase('failed', `${path} and ${current} are one file: the contract would be compared with itself.`)
  }
  const text = repository.fileAt('HEAD', path)
  if (text === undefined) {
    throw new NoBase('failed', `${why}, and HEAD has no ${path}: run npm run release-contract and commit it.`)
  }
  return text
}

/** Two names of one file. Equal contents are none: a release has just been made. */
function isItself(repository, path, current) {
  return (
    repository.isSameFile(path, current) ||
    [path, current].some((each) => repository.isLink(each) || repository.isLinkAt('HEAD', each))
  )
}
