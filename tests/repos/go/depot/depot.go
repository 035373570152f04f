package depot

import "errors"

// ErrFull is returned when no box fits.
var ErrFull = errors.New("depot is full")

const defaultSize = 8

// Box is what is stored.
type Box struct {
	Label  string
	Weight float64
}

// Shelf holds boxes.
type Shelf[T any] struct {
	items []T
}

type (
	// Counter counts.
	Counter interface {
		Count() int
	}

	Labels []string
)

type Alias = Box

// Depot keeps boxes on a shelf.
type Depot struct {
	Shelf[Box]
	size int
}

// New makes a depot of a size.
func New(size int) *Depot {
	if size == 0 {
		size = defaultSize
	}
	return &Depot{size: size}
}

// Put stores a box,
// or says that there is no room.
func (d *Depot) Put(box Box) error {
	if d.Count() >= d.size {
		return ErrFull
	}
	d.items = append(d.items, box)
	return nil
}

func (s Shelf[T]) Count() int { return len(s.items) }
