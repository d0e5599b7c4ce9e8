// The tuples and questions of the authorization benchmarks: the same for every process that starts from the same size.

/** Depth 4: a document in a folder in a folder of an organisation, read by members of groups in groups, minus the banned. */
export const SCHEMA = `definition user {}

definition group {
    relation member: user | group#member
}

definition org {
    relation admin: user | group#member
    permission manage = admin
}

definition folder {
    relation org: org
    relation parent: folder
    relation viewer: user | group#member
    relation banned: user | group#member
    permission view = (viewer + parent->view + org->manage) - banned
}

definition doc {
    relation folder: folder
    relation viewer: user | group#member
    relation blocked: user
    permission read = (viewer + folder->view) - blocked
}
`

/** Numbers below `bound`, the same for the same seed (mulberry32). */
function createRandom(seed) {
  let state = seed >>> 0
  return (bound) => {
    state = (state + 0x6d2b79f5) >>> 0
    let mixed = Math.imul(state ^ (state >>> 15), state | 1)
    mixed ^= mixed + Math.imul(mixed ^ (mixed >>> 7), mixed | 61)
    return Math.floor((((mixed ^ (mixed >>> 14)) >>> 0) / 2 ** 32) * bound)
  }
}

/** A UUID for a number: version 7 to look at, scattered like real ones. */
function uuidOf(kind, number) {
  const scattered = (Math.imul(number + 1, 0x9e3779b1) ^ Math.imul(kind + 7, 0x85ebca6b)) >>> 0
  const time = (0x019a00000000 + number * 7 + kind).toString(16).padStart(12, '0')
  const tail = scattered.toString(16).padStart(8, '0') + number.toString(16).padStart(4, '0').slice(-4)
  const middle = ((scattered >>> 3) & 0xfff).toString(16).padStart(3, '0')
  return `${time.slice(0, 8)}-${time.slice(8)}-7${middle}-8${(kind & 0xfff).toString(16).padStart(3, '0')}-${tail}`
}

const KINDS = { user: 1, group: 2, org: 3, folder: 4, doc: 5 }
const idOf = (type, number) => uuidOf(KINDS[type], number)

/** How many of each there are among so many tuples. */
function sizesOf(tuples) {
  const users = Math.round(tuples / 20)
  const groups = Math.max(8, Math.round(users / 12))
  const folders = Math.round(tuples / 50)
  return { users, groups, folders, orgs: Math.max(2, Math.round(folders / 200)) }
}

/** The group that a group is a member of: three levels, seven of eight on the lowest. */
function outerGroup(group, groups) {
  const top = Math.ceil(groups / 64)
  const middle = Math.ceil(groups / 8)
  if (group < top) return undefined
  return group < middle ? group % top : top + (group % Math.max(1, middle - top))
}

/** Which levels a folder lies on: an eighth is on top, and each other's parent is among the first half of those before it. */
const parentFolder = (folder, folders) => {
  const top = Math.ceil(folders / 8)
  if (folder < top) return undefined
  const middle = Math.ceil(folders / 2)
  return folder < middle ? folder % top : top + (folder % Math.max(1, middle - top))
}

const bound = (resource, relation, subject) => ({ resource, relation, subject })

function* ofGroups({ random, users, groups, orgs }) {
  const low = Math.ceil(groups / 8)
  for (let org = 0; org < orgs; org++) yield bound(['org', org], 'admin', ['group', random(low), 'member'])
  for (let group = 0; group < groups; group++) {
    const outer = outerGroup(group, groups)
    if (outer !== undefined) yield bound(['group', outer], 'member', ['group', group, 'member'])
  }
  for (let user = 0; user < users; user++) {
    const first = low + random(groups - low)
    const second = low + random(groups - low)
    yield bound(['group', first], 'member', ['user', user])
    if (second !== first) yield bound(['group', second], 'member', ['user', user])
  }
}

function* ofFolders({ random, users, groups, folders, orgs }) {
  const low = Math.ceil(groups / 8)
  for (let number = 0; number < folders; number++) {
    const folder = ['folder', number]
    const parent = parentFolder(number, folders)
    if (parent === undefined) yield bound(folder, 'org', ['org', number % orgs])
    else yield bound(folder, 'parent', ['folder', parent])
    yield bound(folder, 'viewer', ['group', random(groups), 'member'])
    yield bound(folder, 'viewer', ['user', random(users)])
    if (number % 4 === 0) yield bound(folder, 'banned', ['user', random(users)])
    if (number % 16 === 0) yield bound(folder, 'banned', ['group', low + random(groups - low), 'member'])
  }
}

/** Without end. */
function* ofDocs({ random, users, groups, folders }) {
  for (let number = 0; ; number++) {
    const doc = ['doc', number]
    yield bound(doc, 'folder', ['folder', random(folders)])
    yield bound(doc, 'viewer', ['user', random(users)])
    if (number % 8 === 0) yield bound(doc, 'blocked', ['user', random(users)])
    if (number % 10 === 0) yield bound(doc, 'viewer', ['group', random(groups), 'member'])
  }
}

/** So many tuples, with numbers for ids. */
function* bindingsOf(count) {
  const world = { random: createRandom(count), ...sizesOf(count) }
  let left = count
  for (const part of [ofGroups, ofFolders, ofDocs]) {
    for (const binding of part(world)) {
      if (left-- === 0) return
      yield binding
    }
  }
}

/** So many tuples, as columns, without keeping them. */
export function* tuplesOf(count) {
  for (const { resource, relation, subject } of bindingsOf(count)) {
    yield {
      resource_type: resource[0],
      resource_id: idOf(...resource),
      relation,
      subject_type: subject[0],
      subject_id: idOf(...subject),
      subject_relation: subject[2] ?? '',
      caveat_name: '',
      domain_id: null,
    }
  }
}

/** Questions of one subject that follow each other, so that SpiceDB can answer them in one go. */
export const QUESTIONS_A_SUBJECT = 100

function push(map, key, value) {
  const list = map.get(key)
  if (list === undefined) map.set(key, [value])
  else list.push(value)
}

/** What leads from folders to documents and to users. */
function waysOf(count) {
  const ways = { docsIn: new Map(), viewersOf: new Map(), innerOf: new Map(), docs: 0 }
  for (const { resource, relation, subject } of bindingsOf(count)) {
    const [type, number] = resource
    if (type === 'doc') ways.docs = number + 1
    if (type === 'doc' && relation === 'folder') push(ways.docsIn, subject[1], number)
    if (type === 'folder' && relation === 'viewer') push(ways.viewersOf, number, subject)
    if (type === 'group') push(ways.innerOf, number, subject)
  }
  return ways
}

/** Somebody who views the folder or one above it: through groups in groups where there are any. */
function viewerOf(ways, folder, { random, folders, users }) {
  let at = folder
  for (let up = random(3); up > 0; up--) at = parentFolder(at, folders) ?? at
  const viewers = ways.viewersOf.get(at) ?? []
  let [type, subject] = viewers[random(viewers.length)] ?? ['user', random(users)]
  while (type === 'group') {
    const inner = ways.innerOf.get(subject) ?? []
    ;[type, subject] = inner[random(inner.length)] ?? ['user', random(users)]
  }
  return subject
}

/**
 * Questions `{ resource, relation, subject }`, different ones for each `seed`: of each subject half about random
 * documents, half about those of a folder that is open to it by a way of its own.
 */
export function questionsOf(count, questions, seed) {
  const random = createRandom(seed)
  const { users, folders } = sizesOf(count)
  const ways = waysOf(count)
  let user = 0
  let near = []
  return Array.from({ length: questions }, (_, at) => {
    if (at % QUESTIONS_A_SUBJECT === 0) {
      const folder = random(folders)
      near = ways.docsIn.get(folder) ?? []
      user = viewerOf(ways, folder, { random, folders, users })
    }
    const doc = at % 2 === 0 ? undefined : near[random(near.length)]
    return {
      resource: `doc:${idOf('doc', doc ?? random(ways.docs))}`,
      relation: 'read',
      subject: `user:${idOf('user', user)}`,
    }
  })
}
