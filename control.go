package weft

import (
	"bufio"
	"context"
	"encoding/json"
	"errors"
	"io"
	"net"
	"os"
	"path/filepath"
	"strings"
	"sync"
	"time"

	"github.com/weftdb/weft/internal/sqlerr"
)

// While a directory is open, its process answers requests of other processes of the same user over a
// Unix socket: they cannot open the directory themselves. docs/format.md has the protocol.
const (
	controlVersion = 1
	controlDir     = "control" // mode 0700: nobody else gets to the socket, not even before its own mode is set
	socketFile     = "socket"
	socketPathFile = "path" // instead of the socket, if the directory's name is too long: where it is
	socketTempName = "weft-"
	// maxSocketPath is what addresses of Unix sockets hold everywhere; Linux allows 107 bytes, macOS 103.
	maxSocketPath   = 100
	maxRequestBytes = 64 << 10
	requestTimeout  = 10 * time.Second // to send a request once connected, and to take the answer
)

// controlRequest is one line of JSON from a client, controlReply the answer.
type controlRequest struct {
	Version int    `json:"version"`
	Command string `json:"command"`
	Target  string `json:"target,omitempty"`
}

type controlReply struct {
	Version int           `json:"version"`
	Error   *controlError `json:"error,omitempty"`
}

type controlError struct {
	Code    sqlerr.Code `json:"code"`
	Message string      `json:"message"`
	Detail  string      `json:"detail,omitempty"`
	Hint    string      `json:"hint,omitempty"`
}

// control answers requests for one open database.
type control struct {
	db       *database
	dir      string // DIR/control
	socket   string
	listener net.Listener
	handlers sync.WaitGroup

	mu     sync.Mutex // guards the rest
	closed bool
	conns  map[net.Conn]struct{}
}

// startControl begins to listen. A database works without: where there are no Unix sockets, or the
// file system takes none, others only cannot ask.
func startControl(d *database) *control {
	c := &control{db: d, dir: filepath.Join(d.dir, controlDir), conns: map[net.Conn]struct{}{}}
	if err := c.listen(); err != nil {
		c.remove()
		if d.options.Logger != nil {
			d.options.Logger.Warn("other processes cannot ask for backups", "error", err)
		}
		return nil
	}
	c.handlers.Go(c.accept)
	return c
}

// listen makes the socket. The directory is locked: whatever is there was left by a process that was
// killed.
func (c *control) listen() error {
	removeOutside(c.dir)
	if err := os.RemoveAll(c.dir); err != nil {
		return err
	}
	if err := os.Mkdir(c.dir, 0o700); err != nil {
		return err
	}
	c.socket = filepath.Join(c.dir, socketFile)
	if len(c.socket) > maxSocketPath {
		temp, err := os.MkdirTemp("", socketTempName)
		if err != nil {
			return err
		}
		c.socket = filepath.Join(temp, socketFile)
		if err := os.WriteFile(filepath.Join(c.dir, socketPathFile), []byte(c.socket+"\n"), 0o600); err != nil {
			return err
		}
	}
	var err error
	if c.listener, err = net.Listen("unix", c.socket); err != nil {
		return err
	}
	return os.Chmod(c.socket, 0o600)
}

// removeOutside removes a socket that is not in the control directory itself.
func removeOutside(dir string) {
	socket, err := socketOf(dir)
	if parent := filepath.Dir(socket); err == nil && parent != dir && filepath.Base(socket) == socketFile && strings.HasPrefix(filepath.Base(parent), socketTempName) {
		_ = os.Remove(socket)
		_ = os.Remove(parent) // only if there is nothing else in it
	}
}

// socketOf finds the socket of a control directory.
func socketOf(dir string) (string, error) {
	text, err := os.ReadFile(filepath.Join(dir, socketPathFile))
	if errors.Is(err, os.ErrNotExist) {
		return filepath.Join(dir, socketFile), nil
	}
	return strings.TrimSpace(string(text)), err
}

func (c *control) accept() {
	for {
		conn, err := c.listener.Accept()
		if err != nil {
			if errors.Is(err, net.ErrClosed) {
				return
			}
			time.Sleep(50 * time.Millisecond) // out of file handles, for instance
			continue
		}
		c.mu.Lock()
		if c.closed {
			_ = conn.Close()
		} else {
			c.conns[conn] = struct{}{}
			_ = conn.SetReadDeadline(time.Now().Add(requestTimeout))
			c.handlers.Go(func() { c.serve(conn) })
		}
		c.mu.Unlock()
	}
}

// serve answers one request. The client ends its half of the connection to cancel it.
func (c *control) serve(conn net.Conn) {
	defer func() {
		_ = conn.Close()
		c.mu.Lock()
		delete(c.conns, conn)
		c.mu.Unlock()
	}()
	in := bufio.NewReader(io.LimitReader(conn, maxRequestBytes))
	line, err := in.ReadBytes('\n')
	if err != nil {
		return // nobody asked for anything
	}
	ctx, cancel := context.WithCancel(context.Background())
	defer cancel()
	c.mu.Lock()
	if !c.closed {
		_ = conn.SetReadDeadline(time.Time{})
	}
	c.mu.Unlock()
	c.handlers.Go(func() {
		_, _ = in.ReadByte() // returns when the client gives up, or with the connection
		cancel()
	})
	reply := controlReply{Version: controlVersion}
	if err := c.answer(ctx, line); err != nil {
		var known *Error
		if !errors.As(err, &known) {
			known = sqlerr.New(sqlerr.InternalError, "%w", err)
		}
		reply.Error = &controlError{known.Code, known.Message, known.Detail, known.Hint}
	}
	_ = conn.SetWriteDeadline(time.Now().Add(requestTimeout))
	_ = json.NewEncoder(conn).Encode(reply)
}

func (c *control) answer(ctx context.Context, line []byte) error {
	var r controlRequest
	if err := json.Unmarshal(line, &r); err != nil {
		return sqlerr.New(sqlerr.InvalidParameterValue, "malformed request: %w", err)
	}
	switch {
	case r.Version != controlVersion:
		return sqlerr.New(sqlerr.FeatureNotSupported, "request of version %d, the process that has the database open knows version %d", r.Version, controlVersion).
			WithHint("Use the same version of weft in both.")
	case r.Command == "backup" && filepath.IsAbs(r.Target):
		return c.db.backup(ctx, r.Target)
	}
	return sqlerr.New(sqlerr.FeatureNotSupported, "unknown request %q", r.Command)
}

// close ends listening and waits for what is being answered; the database's tasks have ended.
func (c *control) close() {
	if c == nil {
		return
	}
	c.mu.Lock()
	c.closed = true
	for conn := range c.conns {
		_ = conn.SetReadDeadline(time.Now())
	}
	c.mu.Unlock()
	_ = c.listener.Close() // removes the socket
	c.handlers.Wait()
	c.remove()
}

func (c *control) remove() {
	removeOutside(c.dir)
	_ = os.RemoveAll(c.dir)
}

// askForBackup asks the process that has a directory open to make a backup; connected says that the
// error is that process's answer.
func askForBackup(ctx context.Context, dir, target string) (connected bool, err error) {
	if dir, err = filepath.Abs(dir); err != nil {
		return false, err
	}
	if real, err := filepath.EvalSymlinks(dir); err == nil {
		dir = real
	}
	socket, err := socketOf(filepath.Join(dir, controlDir))
	if err != nil {
		return false, err
	}
	dialer := net.Dialer{Timeout: requestTimeout}
	conn, err := dialer.DialContext(ctx, "unix", socket)
	if err != nil {
		return false, err
	}
	defer conn.Close()
	unwatch := context.AfterFunc(ctx, func() {
		_ = conn.(*net.UnixConn).CloseWrite()
		_ = conn.SetReadDeadline(time.Now().Add(requestTimeout)) // it clears its target away
	})
	defer unwatch()
	var reply controlReply
	err = json.NewEncoder(conn).Encode(controlRequest{Version: controlVersion, Command: "backup", Target: target})
	if err == nil {
		err = json.NewDecoder(io.LimitReader(conn, maxRequestBytes)).Decode(&reply)
	}
	switch {
	case err == nil && reply.Error == nil:
		return true, nil
	case err == nil:
		e := sqlerr.New(reply.Error.Code, "%s", reply.Error.Message)
		e.Detail, e.Hint = reply.Error.Detail, reply.Error.Hint
		return true, e
	case ctx.Err() != nil:
		return true, canceled(ctx)
	}
	return true, sqlerr.New(sqlerr.IOError, "the process that has the database open ended without an answer: %w", err).
		WithHint("Remove what is left of the backup in %s and try again.", target)
}
