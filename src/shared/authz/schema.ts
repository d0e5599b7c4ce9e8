/**
 * The authorization model in SpiceDB's schema language, which both engines load unchanged. Names are the engine's
 * (`node_agent`, `auditor_role`); `names.ts` hides them from the API. Relations marked `@structural` are parent edges:
 * the service writes them with the object, nobody else may.
 */
export const SCHEMA = `use self

/** Holds in the business hours of the tuple's Domain; hours that end at or before they start run past midnight. */
caveat within_hours(now timestamp, business_hours map<any>) {
    business_hours.from_minute < business_hours.to_minute
        ? now.getHours(business_hours.time_zone) * 60 + now.getMinutes(business_hours.time_zone) >= business_hours.from_minute &&
          now.getHours(business_hours.time_zone) * 60 + now.getMinutes(business_hours.time_zone) < business_hours.to_minute &&
          (now.getDayOfWeek(business_hours.time_zone) + 6) % 7 + 1 in business_hours.days
        : (now.getHours(business_hours.time_zone) * 60 + now.getMinutes(business_hours.time_zone) >= business_hours.from_minute &&
           (now.getDayOfWeek(business_hours.time_zone) + 6) % 7 + 1 in business_hours.days) ||
          (now.getHours(business_hours.time_zone) * 60 + now.getMinutes(business_hours.time_zone) < business_hours.to_minute &&
           (now.getDayOfWeek(business_hours.time_zone) + 5) % 7 + 1 in business_hours.days)
}

/** Holds for callers from the trusted networks of the tuple's Domain. */
caveat from_network(source_ip ipaddress, trusted_networks list<string>) {
    trusted_networks.exists(network, source_ip.in_cidr(network))
}

/** Holds for sessions that were authenticated as strongly as the tuple's Domain requires. */
caveat strong_auth(acr string, strong_acr list<string>) {
    acr in strong_acr
}

/** The one installation; every Domain hangs off it. */
definition platform {
    relation admin: user | serviceaccount | group#member
    relation auditor_role: user | serviceaccount | group#member
    relation viewer: user | serviceaccount | group#member | user:* | serviceaccount:*

    permission manage = admin
    permission read = admin + auditor_role + viewer
    permission auditor = auditor_role
}

/** A tenant. */
definition domain {
    // @structural
    relation platform: platform
    relation admin:
        user | user with within_hours | user with from_network | user with strong_auth |
        serviceaccount | serviceaccount with within_hours | serviceaccount with from_network | serviceaccount with strong_auth |
        group#member | group#member with within_hours | group#member with from_network | group#member with strong_auth
    relation operator:
        user | user with within_hours | user with from_network | user with strong_auth |
        serviceaccount | serviceaccount with within_hours | serviceaccount with from_network | serviceaccount with strong_auth |
        group#member | group#member with within_hours | group#member with from_network | group#member with strong_auth
    relation auditor_role:
        user | user with within_hours | user with from_network | user with strong_auth |
        serviceaccount | serviceaccount with within_hours | serviceaccount with from_network | serviceaccount with strong_auth |
        group#member | group#member with within_hours | group#member with from_network | group#member with strong_auth
    relation viewer:
        user | user with within_hours | user with from_network | user with strong_auth |
        serviceaccount | serviceaccount with within_hours | serviceaccount with from_network | serviceaccount with strong_auth |
        group#member | group#member with within_hours | group#member with from_network | group#member with strong_auth |
        user:* | user:* with within_hours | user:* with from_network | user:* with strong_auth |
        serviceaccount:* | serviceaccount:* with within_hours | serviceaccount:* with from_network | serviceaccount:* with strong_auth

    permission manage = admin + platform->manage
    permission operate = manage + operator
    permission maintainer = manage
    permission read = operate + auditor_role + viewer + platform->read
    permission domain_view = read
    permission auditor = auditor_role + platform->auditor
}

/** A part of a Domain that one team works in. */
definition project {
    // @structural
    relation domain: domain
    relation admin:
        user | user with within_hours | user with from_network | user with strong_auth |
        serviceaccount | serviceaccount with within_hours | serviceaccount with from_network | serviceaccount with strong_auth |
        group#member | group#member with within_hours | group#member with from_network | group#member with strong_auth
    relation deployer:
        user | user with within_hours | user with from_network | user with strong_auth |
        serviceaccount | serviceaccount with within_hours | serviceaccount with from_network | serviceaccount with strong_auth |
        group#member | group#member with within_hours | group#member with from_network | group#member with strong_auth
    relation viewer:
        user | user with within_hours | user with from_network | user with strong_auth |
        serviceaccount | serviceaccount with within_hours | serviceaccount with from_network | serviceaccount with strong_auth |
        group#member | group#member with within_hours | group#member with from_network | group#member with strong_auth |
        user:* | user:* with within_hours | user:* with from_network | user:* with strong_auth |
        serviceaccount:* | serviceaccount:* with within_hours | serviceaccount:* with from_network | serviceaccount:* with strong_auth

    permission manage = admin + domain->manage
    permission deploy = manage + deployer + domain->operate
    permission maintainer = manage
    permission read = deploy + viewer + domain->read
    permission observe = read
}

/** Something deployed in a Project. */
definition resource {
    // @structural
    relation project: project
    relation maintainer_role:
        user | user with within_hours | user with from_network | user with strong_auth |
        serviceaccount | serviceaccount with within_hours | serviceaccount with from_network | serviceaccount with strong_auth |
        group#member | group#member with within_hours | group#member with from_network | group#member with strong_auth
    relation viewer:
        user | user with within_hours | user with from_network | user with strong_auth |
        serviceaccount | serviceaccount with within_hours | serviceaccount with from_network | serviceaccount with strong_auth |
        group#member | group#member with within_hours | group#member with from_network | group#member with strong_auth |
        user:* | user:* with within_hours | user:* with from_network | user:* with strong_auth |
        serviceaccount:* | serviceaccount:* with within_hours | serviceaccount:* with from_network | serviceaccount:* with strong_auth

    permission manage = maintainer_role + project->manage
    permission maintainer = manage
    permission read = manage + viewer + project->read
    permission observe = read
}

/** A network of a Project. */
definition network {
    // @structural
    relation project: project
    relation maintainer_role:
        user | user with within_hours | user with from_network | user with strong_auth |
        serviceaccount | serviceaccount with within_hours | serviceaccount with from_network | serviceaccount with strong_auth |
        group#member | group#member with within_hours | group#member with from_network | group#member with strong_auth
    relation viewer:
        user | user with within_hours | user with from_network | user with strong_auth |
        serviceaccount | serviceaccount with within_hours | serviceaccount with from_network | serviceaccount with strong_auth |
        group#member | group#member with within_hours | group#member with from_network | group#member with strong_auth |
        user:* | user:* with within_hours | user:* with from_network | user:* with strong_auth |
        serviceaccount:* | serviceaccount:* with within_hours | serviceaccount:* with from_network | serviceaccount:* with strong_auth

    permission manage = maintainer_role + project->manage
    permission maintainer = manage
    permission read = manage + viewer + project->read
    permission observe = read
}

/** A workload of a Project. */
definition workload {
    // @structural
    relation project: project
    relation maintainer_role:
        user | user with within_hours | user with from_network | user with strong_auth |
        serviceaccount | serviceaccount with within_hours | serviceaccount with from_network | serviceaccount with strong_auth |
        group#member | group#member with within_hours | group#member with from_network | group#member with strong_auth
    relation viewer:
        user | user with within_hours | user with from_network | user with strong_auth |
        serviceaccount | serviceaccount with within_hours | serviceaccount with from_network | serviceaccount with strong_auth |
        group#member | group#member with within_hours | group#member with from_network | group#member with strong_auth |
        user:* | user:* with within_hours | user:* with from_network | user:* with strong_auth |
        serviceaccount:* | serviceaccount:* with within_hours | serviceaccount:* with from_network | serviceaccount:* with strong_auth

    permission manage = maintainer_role + project->manage
    permission maintainer = manage
    permission read = manage + viewer + project->read
    permission observe = read
}

/** A machine of the mesh, perhaps given to a Project. */
definition node {
    // @structural
    relation domain: domain
    // @structural
    relation project: project
    relation operator:
        user | user with within_hours | user with from_network | user with strong_auth |
        serviceaccount | serviceaccount with within_hours | serviceaccount with from_network | serviceaccount with strong_auth |
        group#member | group#member with within_hours | group#member with from_network | group#member with strong_auth
    relation agent:
        user | user with within_hours | user with from_network | user with strong_auth |
        serviceaccount | serviceaccount with within_hours | serviceaccount with from_network | serviceaccount with strong_auth |
        group#member | group#member with within_hours | group#member with from_network | group#member with strong_auth
    relation viewer:
        user | user with within_hours | user with from_network | user with strong_auth |
        serviceaccount | serviceaccount with within_hours | serviceaccount with from_network | serviceaccount with strong_auth |
        group#member | group#member with within_hours | group#member with from_network | group#member with strong_auth |
        user:* | user:* with within_hours | user:* with from_network | user:* with strong_auth |
        serviceaccount:* | serviceaccount:* with within_hours | serviceaccount:* with from_network | serviceaccount:* with strong_auth

    permission manage = domain->manage + project->manage
    permission node_operate = operator + domain->operate
    permission node_agent = node_operate + agent
    permission maintainer = node_operate
    permission read = node_agent + viewer + domain->read + project->read
}

/** A person. */
definition user {
    // @structural
    relation domain: domain

    permission manage = domain->manage
    permission maintainer = manage
    permission read = domain->read + self
}

/** A service identity. */
definition serviceaccount {
    // @structural
    relation domain: domain

    permission manage = domain->manage
    permission maintainer = manage
    permission read = domain->read + self
}

/** Subjects that are granted roles together; its members may see it. */
definition group {
    // @structural
    relation domain: domain
    relation member:
        user | user with within_hours | user with from_network | user with strong_auth |
        serviceaccount | serviceaccount with within_hours | serviceaccount with from_network | serviceaccount with strong_auth |
        group#member | group#member with within_hours | group#member with from_network | group#member with strong_auth

    permission manage = domain->manage
    permission maintainer = manage
    permission read = domain->read + member
}

/** A provider endpoint. Its privileged relations do not come from any Domain. */
definition cloud {
    // @structural
    relation platform: platform
    // @structural a Project with an approved assignment
    relation consumer: project
    relation admin: user | serviceaccount | group#member
    relation operator: user | serviceaccount | group#member
    relation assigner: user | serviceaccount | group#member
    relation auditor: user | serviceaccount | group#member
    relation viewer: user | serviceaccount | group#member | user:* | serviceaccount:*

    permission manage = admin + platform->manage
    permission operate = manage + operator
    permission assign = manage + assigner
    permission maintainer = manage
    permission observe = operate + auditor + viewer + platform->read + consumer->read
    permission read = observe
}

/** A credential of a Cloud, lent to Projects by approved assignments. */
definition cloudcredential {
    // @structural
    relation cloud: cloud
    // @structural a Project with an approved assignment
    relation uses: project
    relation assigner: user | serviceaccount | group#member

    permission manage = assigner + cloud->manage
    permission assign = assigner + cloud->manage
    permission maintainer = manage
    permission read = assign + cloud->observe
}

/** A shared provider configuration. */
definition provider_bundle {
    // @structural
    relation platform: platform
    relation admin: user | serviceaccount | group#member
    relation auditor: user | serviceaccount | group#member
    relation viewer: user | serviceaccount | group#member | user:* | serviceaccount:*

    permission manage = admin + platform->manage
    permission maintainer = manage
    permission observe = manage + auditor + viewer + platform->read
    permission read = observe
}

/** A label that may be put on objects of its scope: exactly one of the three parents. */
definition labeldefinition {
    // @structural
    relation platform: platform
    // @structural
    relation domain: domain
    // @structural
    relation project: project
    relation assigner:
        user | user with within_hours | user with from_network | user with strong_auth |
        serviceaccount | serviceaccount with within_hours | serviceaccount with from_network | serviceaccount with strong_auth |
        group#member | group#member with within_hours | group#member with from_network | group#member with strong_auth |
        user:* | serviceaccount:*

    permission manage = platform->manage + domain->manage + project->manage
    permission assign = manage + assigner + domain->operate + project->deploy
    permission read = platform->read + domain->read + project->read
}

/** An API token; its owner and the managers of the owner's Domain hold it. */
definition token {
    // @structural
    relation owner: user | serviceaccount

    permission manage = owner + owner->manage
    permission read = manage
}
`
