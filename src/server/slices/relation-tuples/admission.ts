import { referencesOf, type TupleColumns } from '../../../shared/authz/tuple.ts'
import { problem } from '../../../shared/problems.ts'
import { foreignSubject, requireRoleSubject } from '../../../shared/role-subjects.ts'
import type { Db } from '../../ports/datastore.ts'
import type { SubjectDirectory } from '../../ports/subject-directory.ts'
import type { AdmittedTuple, TupleAdmission, WantedTuple } from '../../ports/tuple-admission.ts'
import type { Tuple } from '../../ports/unit-of-work.ts'
import { holdProject } from '../../sql/hold-project.ts'
import { holdObject, type BindingColumns } from './store.ts'
import { caveatOf } from './tuple.ts'

export interface AdmissionDeps {
  readonly subjects: SubjectDirectory
  /** Checks a tuple against the schema and the nesting of groups. @throws Problem `invalid_triple`. */
  readonly validateTuple: (tuple: Tuple, options: { readonly structural: false }) => Omit<TupleColumns, 'domain_id'>
}

/** Admits tuples one by one, or many of one transaction with one look-up per object. */
export interface Admission extends TupleAdmission {
  /** Parses a tuple and checks it against schema and groups only. @throws Problem `invalid_triple`. */
  parse(wanted: WantedTuple): { readonly tuple: Tuple; readonly columns: BindingColumns }
  /** The same rules for the many tuples of one transaction. */
  within(db: Db): (wanted: WantedTuple) => Promise<AdmittedTuple>
}

/** Makes the rules. */
export function createAdmission({ subjects, validateTuple }: AdmissionDeps): Admission {
  function parse(wanted: WantedTuple): { readonly tuple: Tuple; readonly columns: BindingColumns } {
    const { subject, relation, resource } = wanted
    const caveat = caveatOf(wanted)
    const columns = validateTuple({ subject, relation, resource, ...caveat }, { structural: false })
    return { columns, tuple: { ...referencesOf(columns), ...caveat } }
  }

  /** A wildcard belongs to no Domain: it may be bound where the schema allows it. */
  async function requireSubject(db: Db, subject: string, domainId: string): Promise<void> {
    if (subject.endsWith(':*')) return
    if (!(await subjects.mayBind(db, requireRoleSubject(subject), domainId))) throw foreignSubject()
  }

  function within(db: Db): (wanted: WantedTuple) => Promise<AdmittedTuple> {
    const projects = once((projectId) => requireProject(db, projectId))
    const objects = new Map<string, Promise<void>>()
    const subjectsSeen = new Map<string, Promise<void>>()
    return async (wanted) => {
      const { tuple, columns } = parse(wanted)
      const { projectId } = wanted
      const domainId = await projects(projectId)
      const { resource_type: type, resource_id: id } = columns
      await recall(objects, `${projectId} ${tuple.resource}`, () => requireObject(db, { type, id, projectId }))
      await recall(subjectsSeen, `${domainId} ${tuple.subject}`, () => requireSubject(db, tuple.subject, domainId))
      return { tuple, columns: { ...columns, domain_id: domainId }, place: { domainId, projectId } }
    }
  }

  return { parse, within, admit: (db, wanted) => within(db)(wanted) }
}

async function requireProject(db: Db, projectId: string): Promise<string> {
  const domainId = await holdProject(db, projectId)
  if (domainId === undefined) throw problem('project_not_found')
  return domainId
}

async function requireObject(db: Db, object: Parameters<typeof holdObject>[1]): Promise<void> {
  const isProject = object.type === 'project' && object.id === object.projectId
  if (!isProject && !(await holdObject(db, object))) throw problem('resource_not_in_project')
}

function once<T>(ask: (key: string) => Promise<T>): (key: string) => Promise<T> {
  const asked = new Map<string, Promise<T>>()
  return (key) => recall(asked, key, () => ask(key))
}

/** Cached results, refusals included. */
function recall<T>(asked: Map<string, Promise<T>>, key: string, ask: () => Promise<T>): Promise<T> {
  const known = asked.get(key)
  if (known !== undefined) return known
  const answer = ask()
  asked.set(key, answer)
  return answer
}
