/** The requests of one session, without reading the summary of every other. */
export const SCHEMA_6 = `
CREATE INDEX traces_by_session ON traces (json_extract(summary, '$.session'), seq)
  WHERE json_extract(summary, '$.session') IS NOT NULL;
`;
