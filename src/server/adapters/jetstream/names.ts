/** The stream of a deployment, by its `--env`. */
export function streamOf(env: string): string {
  return `ctl-${env}-events`
}

/** The subject of one node's events. Node ids are unique by themselves, so that it is found by them alone. */
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
