/**
 * What was said, apart from the transcript, so that looking for a word does not read the results and
 * images beside it. Ordinary rows and a trigger: whatever deletes an entry deletes its words, at once
 * and whole. A full-text index was measured: FTS5 leaves the words of deleted rows in its segments;
 * its `secure-delete` takes 0.1 to 2 s a session, and fails its own integrity check in SQLite 3.45.1.
 *
 * `spoken_up_to` has the entry up to which it is there, and how many characters that are. What was
 * written since is read when a search comes to the session: no turn waits for it.
 */
export const SCHEMA_5 = `
CREATE TABLE spoken (
  session TEXT NOT NULL,
  seq INTEGER NOT NULL,
  folded TEXT NOT NULL,
  PRIMARY KEY (session, seq)
) STRICT;
CREATE TABLE spoken_up_to (
  session TEXT PRIMARY KEY REFERENCES sessions (id) ON DELETE CASCADE,
  seq INTEGER NOT NULL,
  size INTEGER NOT NULL
) STRICT, WITHOUT ROWID;
CREATE TRIGGER spoken_goes AFTER DELETE ON transcript WHEN old.channel = 'main' BEGIN
  DELETE FROM spoken WHERE session = old.session AND seq = old.seq;
END;
`;
