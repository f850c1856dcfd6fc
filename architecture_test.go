package weft_test

import (
	"go/ast"
	"go/parser"
	"go/token"
	"io/fs"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"testing"
)

const modulePath = "github.com/weftdb/weft"

// layers lists what each package of the module may import of the module: a package not named in
// the list of its folder, or a folder not listed at all, fails the test. Test files are held to the
// same rules, apart from external test packages (package x_test).
var layers = map[string][]string{
	"internal": {"internal"},
	"vector":   {"internal"},
	"sql":      {"internal"},
	"catalog":  {"vector", "internal"},
	"expr":     {"vector", "catalog", "internal"},
	"storage":  {"catalog", "vector", "internal"},
	"join":     {"vector", "internal"},
	"prune":    {"catalog", "expr", "vector", "internal"},
	"imcv":     {"storage", "catalog", "expr", "vector", "internal"},
	"planner":  {"sql", "catalog", "expr", "prune", "vector", "internal"},
	"exec":     {"planner", "imcv", "prune", "join", "storage", "expr", "catalog", "sql", "vector", "internal"},
	".":        {"exec", "planner", "imcv", "prune", "join", "storage", "expr", "catalog", "sql", "vector", "internal"},
	"bench":    {"."},
	"cmd":      {".", "bench"},
}

// TestLayers reads every Go file's imports and fails on an edge outside of the table above.
func TestLayers(t *testing.T) {
	err := filepath.WalkDir(".", func(path string, d fs.DirEntry, err error) error {
		if err != nil {
			return err
		}
		name := d.Name()
		if d.IsDir() {
			if name == "testdata" || name != "." && strings.HasPrefix(name, ".") || isNestedModule(path) {
				return filepath.SkipDir
			}
			return nil
		}
		if filepath.Ext(name) == ".go" {
			checkImports(t, path)
		}
		return nil
	})
	if err != nil {
		t.Fatal(err)
	}
}

func isNestedModule(dir string) bool {
	if dir == "." {
		return false
	}
	found, _ := filepath.Glob(filepath.Join(dir, "go.mod"))
	return len(found) > 0
}

func layerOf(dir string) string {
	top, _, _ := strings.Cut(filepath.ToSlash(dir), "/")
	return top
}

func checkImports(t *testing.T, path string) {
	f, err := parser.ParseFile(token.NewFileSet(), path, nil, parser.ImportsOnly)
	if err != nil {
		t.Error(err)
		return
	}
	if strings.HasSuffix(f.Name.Name, "_test") {
		return
	}
	layer := layerOf(filepath.Dir(path))
	allowed, known := layers[layer]
	if !known {
		t.Errorf("%s: folder %q is not in the layer table", path, layer)
		return
	}
	for _, spec := range f.Imports {
		imported, err := strconv.Unquote(spec.Path.Value)
		if err != nil {
			t.Error(err)
			continue
		}
		if strings.Contains(imported, "github.com/apache/arrow") && !strings.HasPrefix(filepath.ToSlash(path), "vector/arrow/") {
			t.Errorf("%s: Arrow's types belong into one sub-package of vector", path)
		}
		if imported != modulePath && !strings.HasPrefix(imported, modulePath+"/") {
			continue
		}
		target := "."
		if imported != modulePath {
			target = layerOf(strings.TrimPrefix(imported, modulePath+"/"))
		}
		if target != layer && !slices.Contains(allowed, target) {
			t.Errorf("%s: %s must not import %s", path, layer, target)
		}
	}
}

// TestSizes keeps files and functions readable: a file has at most 800 lines, a function 120, apart
// from tables of data. Test files are not counted.
func TestSizes(t *testing.T) {
	const maxFile, maxFunction = 800, 120
	err := filepath.WalkDir(".", func(path string, d fs.DirEntry, err error) error {
		if err != nil {
			return err
		}
		if d.IsDir() && (d.Name() == "testdata" || d.Name() != "." && strings.HasPrefix(d.Name(), ".")) {
			return filepath.SkipDir
		}
		if filepath.Ext(path) != ".go" || strings.HasSuffix(path, "_test.go") {
			return nil
		}
		set := token.NewFileSet()
		f, err := parser.ParseFile(set, path, nil, 0)
		if err != nil {
			return err
		}
		if lines := set.Position(f.End()).Line; lines > maxFile {
			t.Errorf("%s has %d lines, more than %d", path, lines, maxFile)
		}
		for _, decl := range f.Decls {
			fn, ok := decl.(*ast.FuncDecl)
			if !ok {
				continue
			}
			if lines := set.Position(fn.End()).Line - set.Position(fn.Pos()).Line + 1; lines > maxFunction {
				t.Errorf("%s: %s has %d lines, more than %d", path, fn.Name.Name, lines, maxFunction)
			}
		}
		return nil
	})
	if err != nil {
		t.Fatal(err)
	}
}

// TestDocumented fails on exported names without a doc comment: types, functions, methods of
// exported types, and values, which may share the comment of their group. Packages below internal
// and commands are left out.
func TestDocumented(t *testing.T) {
	err := filepath.WalkDir(".", func(path string, d fs.DirEntry, err error) error {
		if err != nil {
			return err
		}
		name := d.Name()
		if d.IsDir() {
			if name == "testdata" || name == "internal" || name != "." && strings.HasPrefix(name, ".") {
				return filepath.SkipDir
			}
			return nil
		}
		if filepath.Ext(name) != ".go" || strings.HasSuffix(name, "_test.go") {
			return nil
		}
		set := token.NewFileSet()
		f, err := parser.ParseFile(set, path, nil, parser.ParseComments|parser.SkipObjectResolution)
		if err != nil || f.Name.Name == "main" {
			return err
		}
		for _, decl := range f.Decls {
			for _, id := range undocumented(decl) {
				t.Errorf("%s: %s has no doc comment", set.Position(id.Pos()), id.Name)
			}
		}
		return nil
	})
	if err != nil {
		t.Fatal(err)
	}
}

// undocumented returns the exported names of a declaration that no comment explains.
func undocumented(decl ast.Decl) []*ast.Ident {
	var names []*ast.Ident
	switch d := decl.(type) {
	case *ast.FuncDecl:
		if d.Doc == nil && (d.Recv == nil || ast.IsExported(receiverName(d.Recv.List[0].Type))) {
			names = append(names, d.Name)
		}
	case *ast.GenDecl:
		for _, spec := range d.Specs {
			switch s := spec.(type) {
			case *ast.TypeSpec:
				if s.Doc == nil && s.Comment == nil && (d.Doc == nil || len(d.Specs) > 1) {
					names = append(names, s.Name)
				}
			case *ast.ValueSpec:
				if d.Doc == nil && s.Doc == nil && s.Comment == nil {
					names = append(names, s.Names...)
				}
			}
		}
	}
	return slices.DeleteFunc(names, func(id *ast.Ident) bool { return !id.IsExported() })
}

// receiverName is the name of a method's type, whatever pointers and type parameters are around it.
func receiverName(e ast.Expr) string {
	switch e := e.(type) {
	case *ast.StarExpr:
		return receiverName(e.X)
	case *ast.IndexExpr:
		return receiverName(e.X)
	case *ast.IndexListExpr:
		return receiverName(e.X)
	case *ast.Ident:
		return e.Name
	}
	return ""
}
