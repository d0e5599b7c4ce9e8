import type { VNode } from 'preact'
import { shortened } from '../model/format.ts'
import { useConsole } from './context.ts'
import { NodeLink } from './parts.tsx'
import { ViolationLink } from './violation-link.tsx'

/**
 * A subject or object, `<type>:<id>`: by its name where the console knows it, else by the beginning of its id. The whole of it is the title.
 *
 * @param props.name the name that the API gave with it
 */
export function Subject({
  subject,
  name,
}: {
  readonly subject: string
  readonly name?: string | null | undefined
}): VNode {
  const { me, fleet } = useConsole()
  const [type = '', id = ''] = subject.split(':', 2)
  if (type === 'integrity_violation') return <ViolationLink id={id} name={name} />
  const node = type === 'node' ? fleet.nodes.value?.find((each) => each.id === id) : undefined
  if (node !== undefined) return <NodeLink id={id} name={node.display_name} />
  const text = subject === me.subject ? `you (${me.display_name})` : (name ?? `${type}:${shortened(id)}`)
  return <span title={subject}>{text}</span>
}
