/**
 * What nodes hear of from each other. Triggers write it, in the transaction of the change itself: no writer can
 * forget it, and a node of an older version says it too. `xid` is how a reader finds what has become visible
 * since it looked: `seq` is given out before the commit, so a smaller one may come after a greater one.
 */
const TEXT = 'TEXT COLLATE "C"';
const NOW = '(extract(epoch FROM clock_timestamp()) * 1000)::bigint';

export const SCHEMA_CHANGES = `
CREATE TABLE changes (
  seq BIGINT GENERATED ALWAYS AS IDENTITY PRIMARY KEY,
  xid XID8 NOT NULL DEFAULT pg_current_xact_id(),
  at BIGINT NOT NULL DEFAULT ${NOW},
  kind TEXT NOT NULL,
  what TEXT NOT NULL,
  id TEXT NOT NULL,
  principal TEXT NOT NULL DEFAULT '',
  body TEXT
);
CREATE INDEX changes_by_xid ON changes (xid);

CREATE FUNCTION toolgate_note() RETURNS trigger LANGUAGE plpgsql AS $note$
BEGIN
  INSERT INTO changes (kind, what, id) VALUES (TG_ARGV[0], lower(TG_OP), coalesce(NEW.id, OLD.id));
  RETURN NULL;
END $note$;

CREATE FUNCTION toolgate_note_rule() RETURNS trigger LANGUAGE plpgsql AS $note$
BEGIN
  INSERT INTO changes (kind, what, id, body) VALUES ('rule', lower(TG_OP), coalesce(NEW.id, OLD.id),
    CASE TG_OP WHEN 'DELETE' THEN row_to_json(OLD) ELSE row_to_json(NEW) END);
  RETURN NULL;
END $note$;

CREATE FUNCTION toolgate_note_session() RETURNS trigger LANGUAGE plpgsql AS $note$
BEGIN
  INSERT INTO changes (kind, what, id, principal) VALUES ('session',
    CASE WHEN TG_OP = 'DELETE' AND OLD.expires_at <= ${NOW} THEN 'expire' ELSE lower(TG_OP) END,
    coalesce(NEW.id, OLD.id), coalesce(NEW.principal, OLD.principal));
  RETURN NULL;
END $note$;

CREATE TRIGGER approvals_asked AFTER INSERT ON approvals FOR EACH ROW EXECUTE FUNCTION toolgate_note('approval');
CREATE TRIGGER approvals_changed AFTER UPDATE ON approvals FOR EACH ROW
  WHEN (OLD.state <> NEW.state OR OLD.expires_at IS DISTINCT FROM NEW.expires_at)
  EXECUTE FUNCTION toolgate_note('approval');
CREATE TRIGGER rules_changed AFTER INSERT OR DELETE ON rules FOR EACH ROW EXECUTE FUNCTION toolgate_note_rule();
CREATE TRIGGER keys_changed AFTER INSERT OR UPDATE ON keys FOR EACH ROW EXECUTE FUNCTION toolgate_note('key');
CREATE TRIGGER sign_ins_ended AFTER DELETE ON sign_ins FOR EACH ROW
  WHEN (OLD.expires_at > ${NOW}) EXECUTE FUNCTION toolgate_note('sign-in');
CREATE TRIGGER sessions_come_and_gone AFTER INSERT OR DELETE ON sessions FOR EACH ROW
  EXECUTE FUNCTION toolgate_note_session();
CREATE TRIGGER sessions_changed AFTER UPDATE ON sessions FOR EACH ROW
  WHEN (OLD.state <> NEW.state OR OLD.turn_open <> NEW.turn_open OR OLD.model <> NEW.model
    OR OLD.title IS DISTINCT FROM NEW.title OR NEW.expires_at < OLD.expires_at)
  EXECUTE FUNCTION toolgate_note_session();

CREATE TABLE presence (
  node ${TEXT} NOT NULL,
  -- Empty: for everyone.
  principal ${TEXT} NOT NULL,
  until BIGINT NOT NULL,
  PRIMARY KEY (node, principal)
);
CREATE INDEX presence_by_principal ON presence (principal, until);
`;
