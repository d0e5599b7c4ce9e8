import { notContent } from '../../sql/contents.ts'

export const contents = [notContent('domains', 'node_integrity_violations', 'Belong to its nodes.')]
