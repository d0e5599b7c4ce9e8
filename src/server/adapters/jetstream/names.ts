/** The stream of a deployment, by its `--env`. */
export function streamOf(env: string): string {
  return `ctl-${env}-events`
}

/** The subject of one node's events. Node ids are globally unique, so that the id alone identifies the subject. */
export function subjectOf(env: string, nodeId: string): string {
  return `ctl.${env}.events.${nodeId}`
}

/** What the stream stores. */
export function everySubjectOf(env: string): string {
  return subjectOf(env, '*')
}

/** The node of a subject of the stream. */
export function nodeOf(subject: string): string {
  return subject.slice(subject.lastIndexOf('.') + 1)
}
