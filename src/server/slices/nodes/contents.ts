import { content, notContent } from '../../sql/contents.ts'

/** Whether rows of this slice keep a Domain or a Project from being deleted. */
export const contents = [
  content('domains', 'nodes'),
  content('projects', 'nodes'),
  notContent('domains', 'domain_peers', 'Counts the changes of its nodes.'),
  notContent('domains', 'domain_peer_marks', 'Counts the changes of its nodes.'),
  notContent('domains', 'reachability_samples', 'Are numbers of its nodes.'),
  notContent('domains', 'relay_preferences', 'Follows from the labels of its nodes.'),
  notContent('domains', 'relay_choices', 'Follows from its bridges.'),
  notContent('domains', 'mesh_pools', 'Numbers the addresses of its nodes.'),
  notContent('domains', 'mesh_addresses_rested', 'An address that no node has.'),
  notContent('domains', 'mesh_addresses_resting', 'An address that no node has.'),
]
