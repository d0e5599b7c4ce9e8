import { notContent } from '../../sql/contents.ts'

export const contents = [notContent('domains', 'capacity_targets', 'Settings of the Domain.')]
