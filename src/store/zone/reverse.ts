import { PTR_RECORDS_MAX } from '../../limits.ts'
import { type Db, query } from '../database.ts'
import { COLUMNS, type Domain } from '../domains/domains.ts'
import { type Viewer, visibleTo } from '../domains/visibility.ts'

/** A domain, and what it has at the name that was asked for: the target of a CNAME, and a PTR RRset. */
export interface ReverseNode extends Domain {
  asked: string
  subname: string
  cname: string | null
  ttl: number | null
  records: string[] | null
}

/**
 * Returns, for each name, the first zone above it that the viewer sees; if none can have its PTR now, the first one of the
 * others, which have its first label. `limit` makes Postgres look rows up one by one, also where it has no statistics yet.
 */
export async function reverseNodes(db: Db, viewer: Viewer, wanted: { name: string; zones: string[] }[]) {
  return query<ReverseNode>(
    db,
    `select distinct on (asked) spot.*, cname, ptr.ttl, ptr.records
     from (
       select distinct on (asked, "isAbove") domain.*, asked, "isAbove",
         case when "isAbove" then rtrim(left(asked, -length(zone)), '.') else split_part(asked, '.', 1) end as subname
       from json_to_recordset(:wanted) as wish (name text, zones text[])
       cross join unnest(zones) with ordinality as candidate (zone, rank)
       cross join lateral (select wish.name, right(wish.name, length(zone)) = zone) as way (asked, "isAbove")
       cross join lateral (select ${COLUMNS} from domains where name = zone and ${visibleTo(viewer)} limit 1) as domain
       order by asked, "isAbove", rank
     ) as spot
     left join lateral (
       select ttl, records from rrsets where domain_id = spot.id and subname = spot.subname and type = 'PTR' limit 1
     ) as ptr on true
     left join lateral (
       select records[1] as cname from rrsets where domain_id = spot.id and subname = spot.subname and type = 'CNAME' limit 1
     ) as alias on true
     where not paused and suspended is null and coalesce(cardinality(ptr.records) < ${PTR_RECORDS_MAX}, true)
       and not exists (
         select from generate_series(1, 1 + array_length(string_to_array(spot.subname, '.'), 1)) as label
         cross join lateral (
           select type, rrsets.subname as name from rrsets
           where domain_id = spot.id and type in ('DNAME', 'NS')
             and subname = array_to_string((string_to_array(spot.subname, '.'))[label:], '.') limit 2
         ) as cut
         where type = 'NS' and name <> '' or type = 'DNAME' and name <> spot.subname)
     order by asked, "isAbove" desc`,
    { ...viewer, wanted: JSON.stringify(wanted) },
  )
}
