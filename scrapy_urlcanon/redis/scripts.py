"""Lua scripts that Redis runs atomically, so that a killed process leaves nothing half done.

A request in a queue is its data with a score; queues that are lists ignore the score. A request
that is on its way or waits is stored as ``<score> <data>``. A dropped variant is identified by its
fingerprint; if it is not filtered, a word precedes that, and it is new whenever it comes. The state
of a page for a callback is ``s`` (expected), ``h`` (had), ``m`` (missed), ``e`` (elsewhere) or
``c`` (checked); see :class:`.State`. Bounded mappings have two generations: when the younger one is
full the older one is deleted.
"""

from __future__ import annotations

from typing import Final

_QUEUE = """
local function push(queue, kind, value, is_back)
    local at = string.find(value, ' ', 1, true)
    local score, data = string.sub(value, 1, at - 1), string.sub(value, at + 1)
    if kind == 'priority' then redis.call('ZADD', queue, score, data)
    elseif kind == 'fifo' and is_back then redis.call('RPUSH', queue, data)
    else redis.call('LPUSH', queue, data) end
end
"""
_GENERATIONS = """
local function get(name, field)
    return redis.call('HGET', name, field) or redis.call('HGET', name .. ':old', field)
end
local function put(name, field, value, half, ttl)
    if redis.call('HLEN', name) >= tonumber(half) then
        redis.call('RENAME', name, name .. ':old')
    end
    redis.call('HSET', name, field, value)
    redis.call('EXPIRE', name, ttl)
end
"""

ENQUEUE: Final = (
    _QUEUE
    + _GENERATIONS
    + """
local seen, queue, first = unpack(KEYS)
local print, records, drops, kind, value, url, half, ttl = unpack(ARGV)
if print ~= '' then
    local known
    if records == '1' then known = redis.call('SADD', seen, print) == 0
    else known = redis.call('SISMEMBER', seen, print) == 1 end
    if known and drops == '1' then return {0, get(first, print) or ''} end
    if not known and url ~= '' then put(first, print, url, half, ttl) end
end
if value ~= '' then push(queue, kind, value) end
return {1}
"""
)
"""Queue a request unless its fingerprint was seen, and record that; else return the first URL.

The value is empty for a request that is queued elsewhere.
"""

RECORD: Final = "return redis.call('SADD', KEYS[1], ARGV[1])"
"""Record a fingerprint as seen, or an entry as suspended; return whether it is new."""

FORGET: Final = "return redis.call('SREM', KEYS[1], ARGV[1])"
"""Remove a fingerprint from those seen, or a process from those with nothing left to do."""

IS_RECORDED: Final = "return redis.call('SISMEMBER', KEYS[1], ARGV[1])"
"""Return whether a fingerprint was seen."""

POP: Final = """
local queue, flight, done = unpack(KEYS)
local kind, name, id = unpack(ARGV)
local taken = redis.call('HGET', flight, id)
if taken then return string.sub(taken, string.find(taken, ' ', 1, true) + 1) end
for n = 4, #ARGV do redis.call('HDEL', flight, ARGV[n]) end
local data, score = nil, '0'
if kind == 'priority' then
    local found = redis.call('ZRANGE', queue, 0, 0, 'WITHSCORES')
    data, score = found[1], found[2]
    if data then redis.call('ZREM', queue, data) end
elseif kind == 'fifo' then data = redis.call('RPOP', queue)
else data = redis.call('LPOP', queue) end
if not data then return false end
redis.call('SREM', done, name)
redis.call('HSET', flight, id, score .. ' ' .. data)
return data
"""
"""Take the next request, and record that it is on its way and that its process is at work.

Requests that are no longer on their way are removed. If the connection breaks before the answer
comes, the client asks again with the same number and gets the same request.
"""

REQUEUE: Final = (
    _QUEUE
    + """
local queue, flight, processes, alive = unpack(KEYS)
local kind, name = ARGV[1], ARGV[2]
if alive and redis.call('EXISTS', alive) == 1 then return -1 end
local count = 0
local known = {}
for n = 3, #ARGV do known[ARGV[n]] = true end
local found = redis.call('HGETALL', flight)
for n = 1, #found, 2 do
    if not known[found[n]] then
        push(queue, kind, found[n + 1], true)
        redis.call('HDEL', flight, found[n])
        count = count + 1
    end
end
if alive then redis.call('SREM', processes, name) end
return count
"""
)
"""Queue again what is on its way in a process that is gone, or what a process does not know of."""

_WAITING = (
    _QUEUE
    + _GENERATIONS
    + """
local function settle(page, callback)
    return page .. ' ' .. callback
end
local function is_new(seen, name)
    return string.find(name, ' ', 1, true) or redis.call('SADD', seen, name) == 1
end
local function sent(before)
    if before == 'e' or before == 'c' then return 'c' end
    return 's'
end
local function send_next(prefix, page, callback, queue, kind, seen, lives, half, ttl)
    local waiting = prefix .. 'waiting:' .. page .. ':' .. callback
    while true do
        local print = redis.call('HRANDFIELD', waiting)
        if not print then
            redis.call('SREM', prefix .. 'callbacks:' .. page, callback)
            return 0
        end
        local value = redis.call('HGET', waiting, print)
        redis.call('HDEL', waiting, print)
        redis.call('DECR', prefix .. 'count')
        if is_new(seen, print) then
            put(lives, settle(page, callback), sent(get(lives, settle(page, callback))), half, ttl)
            push(queue, kind, value)
            return 1
        end
    end
end
local function forget(prefix, page, callback)
    local waiting = prefix .. 'waiting:' .. page .. ':' .. callback
    redis.call('DECRBY', prefix .. 'count', redis.call('HLEN', waiting))
    redis.call('DEL', waiting)
    redis.call('SREM', prefix .. 'callbacks:' .. page, callback)
end
local function tidy(prefix, page)
    if redis.call('SCARD', prefix .. 'callbacks:' .. page) == 0 then
        redis.call('SREM', prefix .. 'pages', page)
    end
end
"""
)

DROPPED: Final = (
    _WAITING
    + """
local queue, seen, lives = unpack(KEYS)
local prefix, kind, page, callback, print, value, most, half, ttl = unpack(ARGV)
local state = get(lives, settle(page, callback))
if state == 'h' then return 'had' end
if state == 'm' or state == 'e' or (not state and get(lives, page)) then
    if not is_new(seen, print) then return 'forgotten' end
    put(lives, settle(page, callback), sent(state), half, ttl)
    push(queue, kind, value)
    return 'fetched'
end
if tonumber(redis.call('GET', prefix .. 'count') or '0') >= tonumber(most) then return 'full' end
local waiting = prefix .. 'waiting:' .. page .. ':' .. callback
if redis.call('HSETNX', waiting, print, value) == 1 then redis.call('INCR', prefix .. 'count') end
redis.call('SADD', prefix .. 'callbacks:' .. page, callback)
redis.call('SADD', prefix .. 'pages', page)
return 'waits'
"""
)
"""Let a dropped variant wait, queue it or forget it, depending on the state of its page."""

OUTCOME: Final = (
    _WAITING
    + """
local queue, seen, lives = unpack(KEYS)
local prefix, kind, page, callback, state, is_recorded, half, ttl = unpack(ARGV)
local before = get(lives, settle(page, callback))
if before == 'h' and (state == 'm' or state == 'e') then state = 'h' end
if before == 'c' and state == 'e' then state = 'h' end
if (before == 'c' or before == 'e') and state == 'm' then state = 'e' end
if state == 'r' then state = 'm' end
put(lives, settle(page, callback), state, half, ttl)
if is_recorded == '1' and not get(lives, page) then put(lives, page, '1', half, ttl) end
if state == 'h' then forget(prefix, page, callback) end
for _, other in ipairs(redis.call('SMEMBERS', prefix .. 'callbacks:' .. page)) do
    local known = get(lives, settle(page, other))
    local is_coming = known == 'h' or known == 's' or known == 'c'
    if (other == callback or get(lives, page)) and not is_coming then
        send_next(prefix, page, other, queue, kind, seen, lives, half, ttl)
    end
end
tidy(prefix, page)
local sources = prefix .. 'sources:' .. page .. ':' .. callback
local found = redis.call('HGETALL', sources)
redis.call('DEL', sources)
return {state, found}
"""
)
"""Apply the outcome of a request to the state of its page; queue variants that need not wait."""

REDIRECTED: Final = (
    _GENERATIONS
    + """
local lives = KEYS[1]
local prefix, page, callback, source, is_same = unpack(ARGV)
local state = get(lives, page .. ' ' .. callback)
if state == 'h' or state == 'e' or state == 'm' then return state end
if state == 'c' then return 'e' end
if not state and get(lives, page) then return 'm' end
local sources = prefix .. 'sources:' .. page .. ':' .. callback
redis.call('HSET', sources, source, is_same)
return 'w'
"""
)
"""Return the state of a page, or record that a page redirected to it shares its fate."""

STATES: Final = (
    _GENERATIONS
    + """
local states = {}
for n = 2, #ARGV do states[n - 1] = get(KEYS[1], ARGV[1] .. ' ' .. ARGV[n]) or '' end
return states
"""
)
"""Return the state of a page for some callbacks."""

REMEMBER: Final = (
    _GENERATIONS
    + """
put(KEYS[1], unpack(ARGV))
"""
)
"""Store something about a page, such as what it showed."""

RECALL: Final = (
    _GENERATIONS
    + """
return get(KEYS[1], ARGV[1])
"""
)
"""Return the stored content of a page."""

TELL_VERDICT: Final = """
redis.call('XADD', KEYS[1], 'MAXLEN', '~', ARGV[1], '*', 'process', ARGV[2], 'verdict', ARGV[3])
redis.call('EXPIRE', KEYS[1], ARGV[4])
"""
"""Publish the result of an audit to all processes."""

RELEASE: Final = (
    _WAITING
    + """
local queue, seen, lives = unpack(KEYS)
local prefix, kind, half, ttl = unpack(ARGV)
local count = 0
for _, page in ipairs(redis.call('SMEMBERS', prefix .. 'pages')) do
    for _, callback in ipairs(redis.call('SMEMBERS', prefix .. 'callbacks:' .. page)) do
        if get(lives, settle(page, callback)) == 'h' then
            forget(prefix, page, callback)
        else
            count = count + send_next(prefix, page, callback, queue, kind, seen, lives, half, ttl)
        end
    end
    tidy(prefix, page)
end
return count
"""
)
"""Queue one variant of each page that waits, when nothing is on its way any more."""
